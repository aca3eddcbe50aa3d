#include "examples/support/resident.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace segue::examples_resident_test {

TEST_CASE("What is touched becomes resident, and the peak is never below what was resident at once") {
  constexpr Index MiB = 1 << 20;
  const Index before = resident_bytes(), peak_before = peak_resident_bytes();
  CHECK(before > 0);
  const std::vector<char> block(64 * MiB, 1);
  CHECK(block[block.size() / 2] == 1);
  CHECK(peak_resident_bytes() >= before + 60 * MiB);
  CHECK(peak_resident_bytes() >= peak_before);
  CHECK(peak_resident_bytes() >= resident_bytes() - 4 * MiB);  // the two are not counted at the same moment
}

}  // namespace segue::examples_resident_test
