#include "autograd/matmul.hpp"

#include <doctest/doctest.h>

#include "autograd/backward.hpp"
#include "tensor/matmul.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::autograd_matmul_test {

TEST_CASE("The product has the value of the same product of tensors") {
  const Tensor x = random_tensor({2, 3, 4}), y = random_tensor({5, 4}, -1, 1, 8).transpose(0, 1);
  CHECK(same_bits(matmul(parameter(x), parameter(y)).value(), matmul(x, y)));
}

TEST_CASE("The product has the gradients of central differences, whatever leading axes broadcast") {
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {{2, 3}, {3, 4}},       {{2, 2, 3}, {3, 4}},    {{2, 3}, {2, 3, 4}},       {{2, 2, 3}, {2, 3, 4}},
      {{2, 2, 3}, {1, 3, 2}}, {{1, 2, 3}, {2, 3, 2}}, {{2, 1, 2, 3}, {3, 3, 2}}, {{2, 2, 1, 3}, {3, 2}},
      {{2, 0}, {0, 3}},       {{2, 3, 0}, {0, 2}},    {{2, 3, 2}, {2, 0}},       {{2, 0, 3}, {3, 2}},
      {{0, 2, 3}, {3, 2}},    {{2, 0, 3}, {2, 3, 2}}, {{1, 1}, {1, 1}}};
  for (const auto& [a, b] : shapes) {
    CAPTURE(to_string(a));
    CAPTURE(to_string(b));
    check_gradients([](const std::vector<Variable>& x) { return matmul(x[0], x[1]); }, {a, b});
  }
  check_gradients([](const std::vector<Variable>& x) { return matmul(x[0], transpose(x[0], 0, 1)); }, {{3, 2}});
}

TEST_CASE("The gradients are dz y^T and x^T dz") {
  const Tensor x = random_tensor({2, 3}), y = random_tensor({3, 4}, -1, 1, 8), dz = random_tensor({2, 4}, -1, 1, 9);
  const Variable a = parameter(x), b = parameter(y);
  backward(matmul(a, b), dz);
  check_close(a.gradient(), matmul(dz, y.transpose(0, 1)));
  check_close(b.gradient(), matmul(x.transpose(0, 1), dz));
}

TEST_CASE("An inner axis without elements gives zeros and gradients without elements") {
  const Variable x = parameter(Tensor::zeros({2, 3, 0})), y = parameter(Tensor::zeros({0, 4}));
  const Variable z = matmul(x, y);
  CHECK(same_bits(z.value(), Tensor::zeros({2, 3, 4})));
  backward(z, Tensor::full({2, 3, 4}, 1));
  CHECK(to_string(x.gradient().shape()) == "[2, 3, 0]");
  CHECK(to_string(y.gradient().shape()) == "[0, 4]");
}

TEST_CASE("Shapes that do not fit are an error with both shapes and the caller's line") {
  const Variable x = parameter(Tensor::zeros({2, 3})), y = parameter(Tensor::zeros({4, 2}));
  const auto line = Where::current().line() + 1;
  const std::string message = thrown_by<ShapeError>([&] { matmul(x, y); });
  CHECK(holds(message, "[2, 3]"));
  CHECK(holds(message, "[4, 2]"));
  CHECK(holds(message, "matmul_test.cpp:" + std::to_string(line)));
  CHECK_THROWS_AS(matmul(x, parameter(Tensor::zeros({3}))), ShapeError);
}

}  // namespace segue::autograd_matmul_test
