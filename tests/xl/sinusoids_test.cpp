#include "xl/sinusoids.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/random_inputs.hpp"

namespace segue::xl_sinusoids_test {

TEST_CASE("A row is the sines and then the cosines of its position at falling frequencies") {
  const std::vector<Index> positions = {0, 1, 7, 1000, -3};
  for (const Index D : {2, 4, 10}) {
    const Tensor R = sinusoids(positions, D);
    REQUIRE(R.shape() == Shape{5, D});
    for (Index c = 0; c < 5; ++c) {
      for (Index i = 0; i < D / 2; ++i) {
        const double frequency = std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(D));
        const double angle = static_cast<double>(positions[static_cast<std::size_t>(c)]) * frequency;
        const double tolerance = sizeof(Real) == 8 ? 1e-12 : 1e-6;
        CHECK(std::abs(static_cast<double>(R.at({c, i})) - std::sin(angle)) < tolerance);
        CHECK(std::abs(static_cast<double>(R.at({c, D / 2 + i})) - std::cos(angle)) < tolerance);
      }
    }
  }
}

TEST_CASE("Distances run down to 0 and stop growing at the clamp") {
  CHECK(same_bits(distance_sinusoids(4, 0, 6), sinusoids({3, 2, 1, 0}, 6)));
  CHECK(same_bits(distance_sinusoids(5, 2, 6), sinusoids({2, 2, 2, 1, 0}, 6)));
  CHECK(same_bits(distance_sinusoids(3, 2, 6), sinusoids({2, 1, 0}, 6)));
  CHECK(same_bits(distance_sinusoids(3, 100, 6), sinusoids({2, 1, 0}, 6)));
  CHECK(distance_sinusoids(0, 0, 6).shape() == Shape{0, 6});
}

TEST_CASE("The encoding of a distance does not depend on how many there are") {
  CHECK(same_bits(distance_sinusoids(9, 0, 8).narrow(0, 5, 4), distance_sinusoids(4, 0, 8)));
}

TEST_CASE("A width that is odd or not above 0 is an error") {
  for (const Index D : {3, 1, 0, -2}) {
    CHECK(holds(thrown_by<ValueError>([&] { sinusoids({0}, D); }), "got " + std::to_string(D)));
  }
}

}  // namespace segue::xl_sinusoids_test
