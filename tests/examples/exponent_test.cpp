#include "examples/support/exponent.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace segue::examples_exponent_test {

TEST_CASE("of a power the exponent comes back, whatever stands before it") {
  CHECK(fitted_exponent({1, 2, 4, 8}, {3, 12, 48, 192}) == doctest::Approx(2));
  CHECK(fitted_exponent({1, 3, 10}, {7, 7, 7}) == doctest::Approx(0));
  CHECK(fitted_exponent({2, 8}, {6, 1.5}) == doctest::Approx(-1));
}

TEST_CASE("of a sum of powers it lies between theirs, by least squares on the logarithms") {
  const double p = fitted_exponent({1, 2, 4}, {1 + 1, 2 + 4, 4 + 16});  // x + x^2
  CHECK(p == doctest::Approx(std::log(20.0 / 2) / std::log(4.0)));      // the middle one weighs nothing
  CHECK(p > 1);
  CHECK(p < 2);
}

TEST_CASE("what was not measured does not count, and less than two sizes have no exponent") {
  const double none = std::nan("");
  CHECK(fitted_exponent({1, 2, 4, 8}, {1, none, 4, std::numeric_limits<double>::infinity()}) == doctest::Approx(1));
  CHECK(fitted_exponent({0, 1, 2}, {9, 1, 2}) == doctest::Approx(1));
  CHECK(std::isnan(fitted_exponent({}, {})));
  CHECK(std::isnan(fitted_exponent({5}, {1})));
  CHECK(std::isnan(fitted_exponent({5, 5}, {1, 2})));
  CHECK(std::isnan(fitted_exponent({1, 2}, {none, 2})));
}

}  // namespace segue::examples_exponent_test
