#include "autograd/tools/functions.hpp"
#include "autograd/relu.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "autograd/backward.hpp"
#include "autograd/tools/gelu.hpp"
#include "tensor/elementwise.hpp"
#include "tensor/tools/functions.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::autograd_functions_test {

namespace {

std::vector<Real> slopes(Variable (*f)(const Variable&, Where), const std::vector<Real>& at) {
  const Variable x = parameter(Tensor({static_cast<Index>(at.size())}, at));
  backward(sum(f(x, Where::current())));
  return x.gradient().to_vector();
}

}  // namespace

TEST_CASE("Functions have the values of the same function on tensors, bit for bit") {
  const Tensor x = random_tensor({3, 5}, Real(0.1), 3).transpose(0, 1);
  const Variable a = parameter(x);
  CHECK(same_bits(exp(a).value(), exp(x)));
  CHECK(same_bits(log(a).value(), log(x)));
  CHECK(same_bits(sqrt(a).value(), sqrt(x)));
  CHECK(same_bits(tanh(a).value(), tanh(x)));
  CHECK(same_bits(sigmoid(a).value(), sigmoid(x)));
  CHECK(same_bits(relu(neg(a)).value(), relu(neg(x))));
}

TEST_CASE("Functions have the gradients of central differences") {
  for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{2, 1, 3}, Shape{0, 3}}) {
    CAPTURE(to_string(shape));
    check_gradients([](const std::vector<Variable>& x) { return exp(x[0]); }, {shape}, -2, 2);
    check_gradients([](const std::vector<Variable>& x) { return log(x[0]); }, {shape}, Real(0.5), 3);
    check_gradients([](const std::vector<Variable>& x) { return sqrt(x[0]); }, {shape}, Real(0.5), 3);
    check_gradients([](const std::vector<Variable>& x) { return tanh(x[0]); }, {shape}, -2, 2);
    check_gradients([](const std::vector<Variable>& x) { return sigmoid(x[0]); }, {shape}, -4, 4);
    check_gradients([](const std::vector<Variable>& x) { return relu(x[0]); }, {shape}, -2, 2);
    check_gradients([](const std::vector<Variable>& x) { return gelu(x[0]); }, {shape}, -3, 3);
  }
}

TEST_CASE("gelu has the values of its formula") {
  const Tensor x = random_tensor({20}, -4, 4);
  std::vector<Real> expected;
  for (const Real a : x.to_vector()) {
    const double b = static_cast<double>(a);
    const double inner = std::sqrt(2 / std::numbers::pi) * (b + 0.044715 * b * b * b);
    expected.push_back(static_cast<Real>(b / 2 * (1 + std::tanh(inner))));
  }
  check_close(gelu(Variable(x)).value(), Tensor({20}, expected));
}

TEST_CASE("The slope of relu is 0 at 0") { CHECK(slopes(relu, {-1, 0, 2}) == std::vector<Real>{0, 0, 1}); }

TEST_CASE("Where functions saturate their slopes are 0, not NaN") {
  CHECK(slopes(tanh, {-1000, 1000}) == std::vector<Real>{0, 0});
  CHECK(slopes(sigmoid, {-10000, 10000}) == std::vector<Real>{0, 0});
  CHECK(slopes(exp, {-10000}) == std::vector<Real>{0});
  CHECK(slopes(gelu, {-1000, 1000}) == std::vector<Real>{0, 1});
}

}  // namespace segue::autograd_functions_test
