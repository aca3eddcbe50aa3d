#include "autograd/arithmetic.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <numbers>

#include "autograd/backward.hpp"
#include "autograd/tools/functions.hpp"
#include "tensor/elementwise.hpp"
#include "tensor/tools/functions.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::autograd_arithmetic_test {

namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();

Real slope_of_power(Real x, Real y) {
  const Variable base = parameter(Tensor::scalar(x));
  backward(pow(base, y));
  return base.gradient().item();
}

}  // namespace

TEST_CASE("Arithmetic has the values of the same op on tensors, bit for bit") {
  const Tensor x = random_tensor({2, 1, 4}, Real(0.5), 2), y = random_tensor({3, 1}, Real(0.5), 2, 8);
  const Variable a = parameter(x), b = parameter(y);
  CHECK(same_bits(add(a, b).value(), add(x, y)));
  CHECK(same_bits(sub(a, b).value(), sub(x, y)));
  CHECK(same_bits(mul(a, b).value(), mul(x, y)));
  CHECK(same_bits(div(a, b).value(), div(x, y)));
  CHECK(same_bits(pow(a, b).value(), pow(x, y)));
  CHECK(same_bits(neg(a).value(), neg(x)));
  CHECK(same_bits(scale(a, 3).value(), scale(x, 3)));
}

TEST_CASE("Arithmetic has the gradients of central differences, however its operands broadcast") {
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {{2, 3}, {2, 3}}, {{2, 3}, {3}}, {{3}, {2, 3}},       {{2, 1, 4}, {3, 1}}, {{1}, {1, 2}},
      {{2, 3}, {}},     {{}, {}},      {{1, 3}, {2, 2, 1}}, {{5}, {1}}};
  for (const auto& [a, b] : shapes) {
    CAPTURE(to_string(a));
    CAPTURE(to_string(b));
    const std::vector<Shape> both = {a, b};
    check_gradients([](const std::vector<Variable>& x) { return add(x[0], x[1]); }, both);
    check_gradients([](const std::vector<Variable>& x) { return sub(x[0], x[1]); }, both);
    check_gradients([](const std::vector<Variable>& x) { return mul(x[0], x[1]); }, both);
    check_gradients([](const std::vector<Variable>& x) { return div(x[0], x[1]); }, both, Real(0.5), 2);
    check_gradients([](const std::vector<Variable>& x) { return pow(x[0], x[1]); }, both, Real(0.5), 2);
    check_gradients([](const std::vector<Variable>& x) { return pow(x[0], x[0]); }, both, Real(0.5), 2);
    check_gradients([](const std::vector<Variable>& x) { return neg(x[0]); }, both);
    check_gradients([](const std::vector<Variable>& x) { return scale(x[0], Real(-2.5)); }, both);
    check_gradients([](const std::vector<Variable>& x) { return (1 - x[0]) * x[1] / (x[1] + 3) - 2 / (x[0] + 4); },
                    both);
  }
}

TEST_CASE("A negative divisor and a negative base have the gradients of central differences") {
  check_gradients([](const std::vector<Variable>& x) { return div(x[0], x[1]); }, {{3}, {3}}, -2, Real(-0.5));
  check_gradients([](const std::vector<Variable>& x) { return pow(x[0], 3) + pow(x[0], -2); }, {{3}}, -2, Real(-0.5));
}

TEST_CASE("Gradients have the shapes of their inputs: [1] times [1, 2]") {
  const Variable a = parameter(Tensor({1}, {1})), b = parameter(Tensor({1, 2}, {1, 1}));
  backward(sum(a * b));
  CHECK(to_string(a.gradient().shape()) == "[1]");
  CHECK(a.gradient().to_vector() == std::vector<Real>{2});
  CHECK(to_string(b.gradient().shape()) == "[1, 2]");
  CHECK(b.gradient().to_vector() == std::vector<Real>{1, 1});
}

TEST_CASE("The slope of a power at 0 is the limit from the right") {
  CHECK(slope_of_power(0, 0) == 0);
  CHECK(slope_of_power(0, 1) == 1);
  CHECK(slope_of_power(0, 2) == 0);
  CHECK(slope_of_power(0, Real(0.5)) == infinity);
  const Variable zero = parameter(Tensor::scalar(0)), two = parameter(Tensor::scalar(2));
  backward(pow(zero, two));
  CHECK(zero.gradient().item() == 0);
  CHECK(two.gradient().item() == 0);
}

TEST_CASE("The slope of 2^x at 3 is 8 ln 2") {
  const Variable x = parameter(Tensor::scalar(3));
  backward(pow(2, x));
  CHECK(x.gradient().item() == doctest::Approx(5.545177).epsilon(1e-6));
  check_close(x.gradient(), Tensor::scalar(static_cast<Real>(8 * std::numbers::ln2)));
}

TEST_CASE("An element read and written to the same place counts once") {
  const Variable x = parameter(Tensor::zeros({4}));
  backward(sum(x + 1));
  CHECK(x.gradient().to_vector() == std::vector<Real>{1, 1, 1, 1});
}

TEST_CASE("Operators take numbers on either side") {
  const Variable x = parameter(Tensor({2}, {2, 4}));
  const auto values = [](const Variable& z) { return z.value().to_vector(); };
  CHECK(values(x * 2) == std::vector<Real>{4, 8});
  CHECK(values(2 * x) == std::vector<Real>{4, 8});
  CHECK(values(1 - x) == std::vector<Real>{-1, -3});
  CHECK(values(x - 1) == std::vector<Real>{1, 3});
  CHECK(values(x + Real(0.5)) == std::vector<Real>{Real(2.5), Real(4.5)});
  CHECK(values(8 / x) == std::vector<Real>{4, 2});
  CHECK(values(x / 2) == std::vector<Real>{1, 2});
  CHECK(values(-x) == std::vector<Real>{-2, -4});
  backward(sum(1 - x * 3));
  CHECK(x.gradient().to_vector() == std::vector<Real>{-3, -3});
}

TEST_CASE("Shapes that do not broadcast are an error with both shapes and the caller's line, for operators too") {
  const Variable x = parameter(Tensor::zeros({2, 3})), y = parameter(Tensor::zeros({4}));
  std::vector<std::string> messages;
  const auto line = Where::current().line();
  messages.push_back(thrown_by<ShapeError>([&] { add(x, y); }));
  messages.push_back(thrown_by<ShapeError>([&] { sub(x, y); }));
  messages.push_back(thrown_by<ShapeError>([&] { mul(x, y); }));
  messages.push_back(thrown_by<ShapeError>([&] { div(x, y); }));
  messages.push_back(thrown_by<ShapeError>([&] { pow(x, y); }));
  messages.push_back(thrown_by<ShapeError>([&] { x + y; }));
  messages.push_back(thrown_by<ShapeError>([&] { x - y; }));
  messages.push_back(thrown_by<ShapeError>([&] { x* y; }));
  messages.push_back(thrown_by<ShapeError>([&] { x / y; }));
  for (std::size_t i = 0; i < messages.size(); ++i) {
    CAPTURE(messages[i]);
    CHECK(holds(messages[i], "[2, 3]"));
    CHECK(holds(messages[i], "[4]"));
    CHECK(holds(messages[i], "autograd/arithmetic_test.cpp:" + std::to_string(line + i + 1)));
  }
}

}  // namespace segue::autograd_arithmetic_test
