#include "examples/support/spread.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tensor/random.hpp"

namespace segue::examples_spread_test {

TEST_CASE("mean, deviation and standard error are those of the textbook") {
  const Spread spread = spread_of({2, 4, 4, 4, 5, 5, 7, 9});  // squares add up to 32
  CHECK(spread.runs == 8);
  CHECK(spread.mean == doctest::Approx(5));
  CHECK(spread.deviation == doctest::Approx(std::sqrt(32.0 / 7)));
  CHECK(spread.error == doctest::Approx(std::sqrt(32.0 / 7 / 8)));
}

TEST_CASE("what has no spread has none, and is not taken for one of 0") {
  CHECK(spread_of({3}).mean == 3);
  CHECK(std::isnan(spread_of({3}).deviation));
  CHECK(std::isnan(spread_of({}).mean));
  CHECK(std::isnan(spread_of({1, std::numeric_limits<double>::infinity()}).error));
  CHECK_FALSE(difference(spread_of({3}), spread_of({5, 5})).is_beyond_spread());
  CHECK(difference(spread_of({3, 3}), spread_of({5, 5})).is_beyond_spread());
  CHECK_FALSE(difference(spread_of({5, 5}), spread_of({5, 5})).is_beyond_spread());
}

TEST_CASE("a difference has the sign of a - b and the errors of both") {
  const Difference d = difference(spread_of({1, 3}), spread_of({7, 9}));  // both errors are 1
  CHECK(d.value == doctest::Approx(-6));
  CHECK(d.error == doctest::Approx(std::sqrt(2.0)));
  CHECK(d.is_beyond_spread(4.2));
  CHECK_FALSE(d.is_beyond_spread(4.3));
}

TEST_CASE("of two ways that are alike, with five runs each, about 2 pairs in 100 look different") {
  Random random(1);
  const auto runs = [&] {
    std::vector<double> values;
    for (int i = 0; i < 5; ++i) values.push_back(random.normal());
    return spread_of(values);
  };
  int different = 0;
  for (int i = 0; i < 20000; ++i) different += difference(runs(), runs()).is_beyond_spread() ? 1 : 0;
  CHECK(different / 20000.0 == doctest::Approx(0.0171).epsilon(0.2));  // 2 P(t > 3), 8 degrees of freedom
}

}  // namespace segue::examples_spread_test
