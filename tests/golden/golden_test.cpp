#include "golden.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "nn/tools/safetensors.hpp"
#include "tensor/elementwise.hpp"

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

TEST_CASE("a recording that was changed by a millionth is told apart") {
  if (sizeof(Real) != sizeof(double)) return;
  SafeTensors changed = read_safetensors(fmt::format("{}/base.safetensors", SEGUE_GOLDEN));
  for (const char* name : {"segment1.logits", "segment2.loss", "segment0.memory_after.1", "segment2.grad.r_w_bias"}) {
    Tensor& tensor = changed.tensors.at(name);
    tensor = add(tensor, Tensor::scalar(Real(1e-6)));
  }
  const auto path = std::filesystem::temp_directory_path() / fmt::format("segue_changed_{}.safetensors", getpid());
  write_safetensors(path, changed);
  for (const auto& [kind, difference] : replay(path)) {
    CAPTURE(kind);
    CHECK(difference > 0.9e-6);
    CHECK(difference < 1.1e-6);
  }
  std::filesystem::remove(path);
}
