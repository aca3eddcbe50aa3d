#include "autograd/reductions.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/backward.hpp"
#include "autograd/tools/functions.hpp"
#include "tensor/reduce.hpp"
#include "tensor/tools/functions.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::autograd_reductions_test {

TEST_CASE("Reductions have the values of the same reduction on tensors") {
  const Tensor x = random_tensor({4, 3, 2}).transpose(0, 2);
  const Variable a = parameter(x);
  for (const Axes& axes : {Axes{0}, Axes{-1}, Axes{1, 2}, Axes{0, 1, 2}, Axes{}}) {
    for (const bool keep : {false, true}) {
      CHECK(same_bits(sum(a, axes, keep).value(), sum(x, axes, keep)));
      CHECK(same_bits(max(a, axes, keep).value(), max(x, axes, keep)));
      const Tensor count = Tensor::scalar(static_cast<Real>(24 / kept_shape(x.shape(), axes).size()));
      check_close(mean(a, axes, keep).value(), div(Variable(sum(x, axes, keep)), Variable(count)).value());
    }
  }
  CHECK(same_bits(sum(a).value(), sum(x)));
  CHECK(mean(a).shape().rank() == 0);
}

TEST_CASE("Reductions have the gradients of central differences over any axes") {
  for (const Axes& axes : {Axes{0}, Axes{-1}, Axes{1, 2}, Axes{2, 0}, Axes{0, 1, 2}, Axes{}}) {
    for (const bool keep : {false, true}) {
      check_gradients([&](const std::vector<Variable>& x) { return sum(x[0], axes, keep); }, {{2, 3, 4}});
      check_gradients([&](const std::vector<Variable>& x) { return mean(x[0], axes, keep); }, {{2, 3, 4}});
      check_gradients([&](const std::vector<Variable>& x) { return max(x[0], axes, keep); }, {{2, 3, 4}});
    }
  }
  check_gradients([](const std::vector<Variable>& x) { return sum(x[0]) * mean(x[0]); }, {{2, 3}});
  check_gradients([](const std::vector<Variable>& x) { return sum(x[0]) + mean(x[0]) + max(x[0], {0}); }, {{}});
}

TEST_CASE("A mean over the axes 1 and 2 of [2, 3, 4] gives every element 1/12") {
  const Variable x = parameter(Tensor::full({2, 3, 4}, 1));
  backward(mean(x, {1, 2}), Tensor::full({2}, 1));
  check_close(x.gradient(), Tensor::full({2, 3, 4}, Real(1) / 12));
}

TEST_CASE("Elements that share the maximum share its gradient") {
  const Variable x = parameter(Tensor({2, 3}, {1, 5, 5, 7, 7, 7}));
  backward(max(x, {1}), Tensor({2}, {1, 3}));
  check_close(x.gradient(), Tensor({2, 3}, {0, Real(0.5), Real(0.5), 1, 1, 1}));
}

TEST_CASE("Reductions of nothing: the sum is 0, the mean NaN, the maximum an error") {
  const Variable x = parameter(Tensor::zeros({2, 0}));
  CHECK(sum(x).item() == 0);
  CHECK(std::isnan(mean(x).item()));
  CHECK(holds(thrown_by<ShapeError>([&] { max(x, {1}); }), "[2, 0]"));
  backward(sum(x, {1}), Tensor::full({2}, 1));
  CHECK(to_string(x.gradient().shape()) == "[2, 0]");
}

TEST_CASE("An axis that is not there, or is named twice, is an error with the caller's line") {
  const Variable x = parameter(Tensor::zeros({2, 3}));
  const auto line = Where::current().line() + 1;
  const std::string message = thrown_by<RangeError>([&] { sum(x, {2}); });
  CHECK(holds(message, "reductions_test.cpp:" + std::to_string(line)));
  CHECK_THROWS_AS(mean(x, {-3}), RangeError);
  CHECK_THROWS_AS(max(x, {1, -1}), RangeError);
  const Variable scalar = parameter(Tensor::scalar(1));
  for (const int axis : {0, -1}) CHECK(sum(scalar, {axis}).item() == 1);
  for (const int axis : {1, -2}) CHECK_THROWS_AS(sum(scalar, {axis}), RangeError);
}

}  // namespace segue::autograd_reductions_test
