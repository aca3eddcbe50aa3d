#include "nn/kernels/linear_relu.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "autograd/arithmetic.hpp"
#include "autograd/backward.hpp"
#include "autograd/matmul.hpp"
#include "autograd/reductions.hpp"
#include "autograd/relu.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::nn_linear_relu_test {

TEST_CASE("linear_relu is relu of the linear layer, value and gradients, for any rank and strides") {
  for (const Shape& shape : {Shape{5, 3}, Shape{1, 3}, Shape{2, 4, 3}, Shape{0, 3}, Shape{2, 70, 3}}) {
    CAPTURE(to_string(shape));
    Tensor x = random_tensor(shape);
    if (shape.rank() > 2) x = x.transpose(0, 1);
    const Tensor w = random_tensor({7, 3}, -1, 1, 2).transpose(0, 1);
    const Tensor b = random_tensor({7}, -1, 1, 3);
    const std::vector<Variable> one = {parameter(x), parameter(w), parameter(b)};
    const std::vector<Variable> three = {parameter(x), parameter(w), parameter(b)};
    const Variable fused = linear_relu(one[0], one[1], one[2]);
    const Variable plain = relu(add(matmul(three[0], three[1]), three[2]));
    const Tensor dz = random_tensor(fused.shape(), -1, 1, 4);
    CHECK(same_bits(fused.value(), plain.value()));
    backward(fused, dz);
    backward(plain, dz);
    for (std::size_t i = 0; i < 3; ++i) CHECK(same_bits(one[i].gradient(), three[i].gradient()));
  }
}

TEST_CASE("linear_relu has the gradients of central differences") {
  check_gradients([](const std::vector<Variable>& x) { return linear_relu(x[0], x[1], x[2]); },
                  {{2, 4, 3}, {3, 5}, {5}}, -2, 2);
}

TEST_CASE("linear_relu writes into no tensor but its own") {
  const Variable x = parameter(random_tensor({4, 3}));
  const Variable w = parameter(random_tensor({3, 2}, -1, 1, 2));
  const Variable product = matmul(x, w);
  const Tensor before = product.value().clone();
  const Tensor x_before = x.value().clone();
  linear_relu(x, w, parameter(random_tensor({2}, -1, 1, 3)));
  CHECK(same_bits(product.value(), before));
  CHECK(same_bits(x.value(), x_before));
}

TEST_CASE("linear_relu keeps NaN, and its slope is 0 at 0") {
  const Variable x = parameter(Tensor({4, 1}, {-3, -2, 0, std::numeric_limits<Real>::quiet_NaN()}));
  const Variable z = linear_relu(x, Variable(Tensor::full({1, 1}, 1)), Variable(Tensor::full({1}, 2)));
  CHECK(z.value().at({0, 0}) == 0);
  CHECK(z.value().at({2, 0}) == 2);
  CHECK(std::isnan(z.value().at({3, 0})));
  backward(sum(z));
  CHECK(x.gradient().to_vector() == std::vector<Real>{0, 0, 1, 0});
}

TEST_CASE("A bias of another width is an error of linear_relu with both shapes at the caller's line") {
  const Variable x(Tensor::zeros({2, 4}));
  const Variable w(Tensor::zeros({4, 5}));
  const Variable three(Tensor::zeros({3}));
  const auto line = Where::current().line() + 1;
  const std::string message = thrown_by<ShapeError>([&] { linear_relu(x, w, three); });
  CHECK(holds(message, "a product [2, 5] with a bias [3]"));
  CHECK(holds(message, "linear_relu_test.cpp:" + std::to_string(line)));
  CHECK_THROWS_AS(linear_relu(x, Variable(Tensor::zeros({3, 5})), three), ShapeError);
}

}  // namespace segue::nn_linear_relu_test
