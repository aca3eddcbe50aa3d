#include "autograd/add_relu.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "autograd/arithmetic.hpp"
#include "autograd/backward.hpp"
#include "autograd/reductions.hpp"
#include "autograd/tools/functions.hpp"
#include "tensor/elementwise.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::autograd_add_relu_test {

TEST_CASE("add_relu is relu of the sum bit for bit, value and gradients, for any rank and strides") {
  for (const Shape& shape : {Shape{5}, Shape{3, 1}, Shape{4, 70}, Shape{2, 3, 5}, Shape{0, 4}, Shape{2, 0}}) {
    CAPTURE(to_string(shape));
    Tensor x = random_tensor(shape), dz = random_tensor(shape, -1, 1, 2);
    if (shape.rank() > 2) x = x.transpose(0, 1), dz = dz.transpose(0, 1);
    const Tensor b = random_tensor({x.dim(-1)}, -1, 1, 3);
    const Variable x1 = parameter(x), b1 = parameter(b), x2 = parameter(x), b2 = parameter(b);
    const Variable fused = add_relu(x1, b1), plain = relu(add(x2, b2));
    CHECK(same_bits(fused.value(), plain.value()));
    backward(fused, dz);
    backward(plain, dz);
    CHECK(same_bits(x1.gradient(), x2.gradient()));
    CHECK(same_bits(b1.gradient(), b2.gradient()));
  }
}

TEST_CASE("add_relu has the gradients of central differences") {
  check_gradients([](const std::vector<Variable>& x) { return add_relu(x[0], x[1]); }, {{2, 4, 3}, {3}}, -2, 2);
  const auto of_product = [](const std::vector<Variable>& x) { return add_relu(x[0] * x[1], x[2]); };
  check_gradients(of_product, {{4, 3}, {4, 3}, {3}}, -2, 2);
}

TEST_CASE("add_relu overwrites an x that nobody else holds, and no other") {
  const Variable x = parameter(random_tensor({4, 3})), b = parameter(random_tensor({3}, -1, 1, 2));
  Variable handed_over = neg(x);
  const Real* const place = handed_over.value().data();
  CHECK(add_relu(std::move(handed_over), b).value().data() == place);

  const Variable held = neg(x);
  CHECK(add_relu(held, b).value().data() != held.value().data());
  CHECK(same_bits(held.value(), neg(x.value())));

  Variable seen = neg(x);
  const Tensor view = seen.value().narrow(0, 1, 2);
  add_relu(std::move(seen), b);
  CHECK(same_bits(view, neg(x.value()).narrow(0, 1, 2)));

  // The backward of sqrt needs the value of sqrt.
  const auto gradient_of = [&](auto f) {
    Variable(x).clear_gradient();
    backward(sum(f(sqrt(x * x))));
    return x.gradient();
  };
  CHECK(same_bits(gradient_of([&](Variable y) { return add_relu(std::move(y), b); }),
                  gradient_of([&](const Variable& y) { return relu(add(y, b)); })));
}

TEST_CASE("add_relu keeps NaN, and its slope is 0 at 0") {
  const Variable x = parameter(Tensor({4}, {-3, -2, 0, std::numeric_limits<Real>::quiet_NaN()}));
  const Variable z = add_relu(x, Variable(Tensor::full({4}, 2)));
  CHECK(z.value().at({0}) == 0);
  CHECK(z.value().at({2}) == 2);
  CHECK(std::isnan(z.value().at({3})));
  backward(sum(z));
  CHECK(x.gradient().to_vector() == std::vector<Real>{0, 0, 1, 0});
}

TEST_CASE("A bias of another width, or an x of rank 0, is an error of add_relu with both shapes at the caller's line") {
  const Variable x(Tensor::zeros({2, 4})), three(Tensor::zeros({3})), row(Tensor::zeros({1, 4}));
  const auto line = Where::current().line() + 1;
  const std::string message = thrown_by<ShapeError>([&] { add_relu(x, three); });
  CHECK(holds(message, "x [2, 4] with b [3]"));
  CHECK(holds(message, "add_relu_test.cpp:" + std::to_string(line)));
  CHECK_THROWS_AS(add_relu(x, row), ShapeError);
  CHECK_THROWS_AS(add_relu(Variable(Tensor::scalar(1)), Variable(Tensor::scalar(1))), ShapeError);
}

}  // namespace segue::autograd_add_relu_test
