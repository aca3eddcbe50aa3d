#include "nn/schedule.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "nn/tools/inverse_sqrt.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::nn_schedule_test {

namespace {

void check_near(Real got, double expected) {
  CHECK(static_cast<double>(got) == doctest::Approx(expected).epsilon(sizeof(Real) == 8 ? 1e-14 : 1e-6));
}

}  // namespace

TEST_CASE("The warm-up rises linearly from peak / warm-up, never 0, to the peak") {
  for (const Index warm_up : {1, 3, 10, 4000}) {
    for (const Index step : {Index{1}, (warm_up + 1) / 2, warm_up}) {
      const double expected = 0.1 * static_cast<double>(step) / static_cast<double>(warm_up);
      check_near(warm_up_cosine(step, warm_up, 5000, Real(0.1)), expected);
      check_near(warm_up_inverse_sqrt(step, warm_up, Real(0.1)), expected);
    }
    CHECK(warm_up_cosine(warm_up, warm_up, 5000, Real(0.1)) == Real(0.1));
    CHECK(warm_up_inverse_sqrt(warm_up, warm_up, Real(0.1)) == Real(0.1));
  }
}

TEST_CASE("The cosine from 3 to 1 over the steps 10 to 100 has the known values") {
  check_near(warm_up_cosine(5, 10, 100, 3, 1), 1.5);
  check_near(warm_up_cosine(11, 10, 100, 3, 1), 2.999390827019096);
  check_near(warm_up_cosine(40, 10, 100, 3, 1), 2.5);
  check_near(warm_up_cosine(55, 10, 100, 3, 1), 2);
  check_near(warm_up_cosine(99, 10, 100, 3, 1), 1.0006091729809041);
  CHECK(warm_up_cosine(100, 10, 100, 3, 1) == 1);
  CHECK(warm_up_cosine(1000000, 10, 100, 3, 1) == 1);
}

TEST_CASE("After the warm-up the inverse square root falls as peak sqrt(warm-up / step)") {
  check_near(warm_up_inverse_sqrt(16, 4, Real(0.5)), 0.25);
  check_near(warm_up_inverse_sqrt(400, 4, Real(0.5)), 0.05);
  for (const Index step : {Index{5}, Index{77}, Index{1} << 40}) {
    check_near(warm_up_inverse_sqrt(step, 4, 1), std::sqrt(4 / static_cast<double>(step)));
  }
}

TEST_CASE("The schedule of Vaswani et al. is the inverse square root with peak (D warm-up)^-1/2") {
  const double width = 512, warm_up = 4000;
  for (const Index step : {1, 100, 4000, 4001, 100000}) {
    const double s = static_cast<double>(step);
    const double paper = std::min(1 / std::sqrt(s), s / (warm_up * std::sqrt(warm_up))) / std::sqrt(width);
    check_near(warm_up_inverse_sqrt(step, 4000, static_cast<Real>(1 / std::sqrt(width * warm_up))), paper);
  }
}

TEST_CASE("A rate rises, then falls; it never goes above the peak, below the floor, or to 0 before the end") {
  for (const Real peak : {Real(0.1), Real(0.7), Real(2.5e-4)}) {
    for (const Real floor : {Real(0), peak / 10}) {
      for (const Index warm_up : {0, 1, 3, 6, 24, 41, 100}) {
        Real before = 0, before_root = 0;
        for (Index step = 1; step <= 110; ++step) {
          const Real rate = warm_up_cosine(step, warm_up, 100, peak, floor);
          const Real root = warm_up_inverse_sqrt(step, std::max<Index>(warm_up, 1), peak);
          const bool rises = step <= warm_up;
          const bool fine = rate <= peak && root <= peak && root > 0 && (step >= 100 || rate > 0) &&
                            (rises || rate >= floor) && (step == 1 || rises == (rate > before) || step > 100) &&
                            (step == 1 || rises == (root > before_root));
          if (!fine) FAIL_CHECK("peak ", peak, " floor ", floor, " warm-up ", warm_up, " step ", step, " rate ", rate);
          before = rate;
          before_root = root;
        }
      }
    }
  }
}

TEST_CASE("A schedule stays finite when the warm-up equals the total, or both are 0") {
  for (Index step = 1; step <= 10; ++step) check_near(warm_up_cosine(step, 10, 10, 1), static_cast<double>(step) / 10);
  CHECK(warm_up_cosine(11, 10, 10, 1, Real(0.25)) == Real(0.25));
  CHECK(warm_up_cosine(1, 0, 0, 1, Real(0.25)) == Real(0.25));
  CHECK(warm_up_cosine(1, 1, 1, Real(0.5)) == Real(0.5));
}

TEST_CASE("Without warm-up the cosine starts just below the peak") {
  check_near(warm_up_cosine(1, 0, 4, 1), 0.5 + 0.5 * std::sqrt(0.5));
  check_near(warm_up_cosine(2, 0, 4, 1), 0.5);
  CHECK(warm_up_cosine(4, 0, 4, 1) == 0);
}

TEST_CASE("Step 0, a negative warm-up, and a warm-up beyond the total are errors at the caller's line") {
  CHECK_THROWS_AS(warm_up_cosine(0, 2, 10, 1), ValueError);
  CHECK_THROWS_AS(warm_up_cosine(1, -1, 10, 1), ValueError);
  CHECK_THROWS_AS(warm_up_inverse_sqrt(0, 2, 1), ValueError);
  const auto line = Where::current().line() + 1;
  const std::string message = thrown_by<ValueError>([] { warm_up_cosine(1, 11, 10, 1); });
  CHECK(holds(message, "warm-up 11 lies within the total 10"));
  CHECK(holds(message, "schedule_test.cpp:" + std::to_string(line)));
  const auto next = Where::current().line() + 1;
  const std::string second = thrown_by<ValueError>([] { warm_up_inverse_sqrt(3, 0, 1); });
  CHECK(holds(second, "step 3 and warm-up 0"));
  CHECK(holds(second, "schedule_test.cpp:" + std::to_string(next)));
}

}  // namespace segue::nn_schedule_test
