#include "golden.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tensor/real.hpp"

using namespace segue;

TEST_CASE("recorded runs of the original agree to 1e-9 in logits, losses, memories and gradients") {
  if (sizeof(Real) != sizeof(double)) return;
  for (const char* name : {"base", "long_memory", "pre_lnorm"}) {
    const auto differences = replay(fmt::format("{}/{}.safetensors", SEGUE_GOLDEN, name));
    CHECK(differences.size() == 4);
    for (const auto& [kind, difference] : differences) {
      CAPTURE(name);
      CAPTURE(kind);
      CHECK(difference <= 1e-9);
    }
  }
}
