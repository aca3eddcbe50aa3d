#include "autograd/tools/gradient_check.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "autograd/tools/functions.hpp"
#include "tensor/elementwise.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::autograd_gradient_check_test {

namespace {

// z = sum x, whose backward is wrong in one element by what it is told.
struct WrongSum : Node {
  Real wrong = 0;
  void backward(const Tensor& dz) override {
    Tensor dx = Tensor::full(inputs[0]->value.shape(), dz.item());
    dx.set_in_place({1}, wrong);
    accumulate(0, dx);
  }
};

GradientCheck check_wrong_sum(Real wrong) {
  const auto f = [wrong](const std::vector<Variable>& x) {
    auto op = std::make_shared<WrongSum>();
    op->wrong = wrong;
    return x[0].item() * 0 + record("wrong_sum", op, sum(Variable(x[1].value())).value(), {x[1]}, Where::current());
  };
  return check_gradient(f, {Tensor::scalar(1), random_tensor({4})}, 1e-2);
}

}  // namespace

TEST_CASE("A right gradient passes, and the inputs keep their values") {
  const Tensor x = random_tensor({2, 3}), before = x.clone();
  const auto f = [](const std::vector<Variable>& v) { return sum(exp(v[0])); };
  const GradientCheck check = check_gradient(f, {x}, sizeof(Real) == 8 ? 1e-5 : 1e-2);
  CHECK(check.error < (sizeof(Real) == 8 ? 1e-7 : 1e-2));
  CHECK(same_bits(x, before));
}

TEST_CASE("A wrong gradient is found, with input, element and both numbers") {
  const GradientCheck check = check_wrong_sum(5);
  CHECK(check.input == 1);
  CHECK(check.element == 1);
  CHECK(check.analytic == 5);
  CHECK(check.numeric == doctest::Approx(1).epsilon(1e-3));
  CHECK(check.error == doctest::Approx(0.8).epsilon(1e-3));
  CHECK(holds(to_string(check), "input 1, element 1: analytic 5"));
}

TEST_CASE("A gradient that is NaN or infinite is the worst, also when right ones follow") {
  CHECK(std::isnan(check_wrong_sum(std::numeric_limits<Real>::quiet_NaN()).error));
  CHECK_FALSE(check_wrong_sum(std::numeric_limits<Real>::infinity()).error < 1e-7);
}

TEST_CASE("An input that the function does not use has gradient 0") {
  const auto f = [](const std::vector<Variable>& v) { return sum(v[0]); };
  CHECK(check_gradient(f, {random_tensor({2}), random_tensor({3})}, 1e-2).error < 1e-2);
}

TEST_CASE("A function of several numbers cannot be checked") {
  const auto f = [](const std::vector<Variable>& v) { return exp(v[0]); };
  CHECK_THROWS_AS(check_gradient(f, {random_tensor({2})}), ShapeError);
}

TEST_CASE("The scale of a function does not matter: a wrong gradient is found at 1e-6, a right one passes at both") {
  if (sizeof(Real) != 8) return;
  const Tensor x = random_tensor({5}, Real(0.5), 2);
  for (const Real c : {Real(1e-6), Real(1), Real(1e6)}) {
    CAPTURE(c);
    const auto right = [c](const std::vector<Variable>& v) { return scale(sum(exp(v[0])), c); };
    CHECK(check_gradient(right, {x}).error < 1e-7);
    // Half of each e^x is a plain number, which backward does not see.
    const auto wrong = [c](const std::vector<Variable>& v) {
      return scale(sum(exp(v[0])) + Variable(sum(exp(v[0])).value()), c);
    };
    CHECK(check_gradient(wrong, {x}).error > 0.1);
  }
  const auto flat = [](const std::vector<Variable>& v) { return sum(v[0] - v[0]) + Variable(Tensor::scalar(3)); };
  CHECK(check_gradient(flat, {x}).error < 1e-7);
}

}  // namespace segue::autograd_gradient_check_test
