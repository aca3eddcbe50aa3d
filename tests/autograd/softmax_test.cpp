#include "autograd/softmax.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "autograd/backward.hpp"
#include "autograd/tools/functions.hpp"
#include "tensor/elementwise.hpp"
#include "tensor/softmax.hpp"
#include "tensor/tools/functions.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::autograd_softmax_test {

TEST_CASE("Softmax has the value of the same function of tensors, and log_softmax its logarithm") {
  const Tensor x = random_tensor({2, 3, 4}, -3, 3);
  for (const int axis : {0, 1, -1}) {
    CHECK(same_bits(softmax(parameter(x), axis).value(), softmax(x, axis)));
    check_close(log_softmax(parameter(x), axis).value(), log(softmax(x, axis)));
  }
}

TEST_CASE("Softmax has the gradients of central differences along any axis") {
  for (const int axis : {0, 1, -1}) {
    check_gradients([&](const std::vector<Variable>& x) { return softmax(x[0], axis); }, {{2, 3, 4}}, -3, 3);
    check_gradients([&](const std::vector<Variable>& x) { return log_softmax(x[0], axis); }, {{2, 3, 4}}, -3, 3);
  }
  check_gradients([](const std::vector<Variable>& x) { return softmax(x[0]) + log_softmax(x[0]); }, {{}});
}

TEST_CASE("log_softmax of [0.1, 0.9] passes ones on as [0.379949, -0.379949]") {
  const Variable x = parameter(Tensor({2}, {Real(0.1), Real(0.9)}));
  backward(sum(log_softmax(x)));
  check_close(x.gradient(), Tensor({2}, {Real(0.379949), Real(-0.379949)}), 1e-6);
}

TEST_CASE("The gradient of a softmax sums to 0 along its axis") {
  const Tensor dz = random_tensor({3, 5}, -1, 1, 8);
  for (const auto f : {&softmax, static_cast<Variable (*)(const Variable&, int, Where)>(&log_softmax)}) {
    const Variable x = parameter(random_tensor({3, 5}, -3, 3));
    backward(f(x, -1, Where::current()), dz);
    check_close(sum(Variable(x.gradient()), {1}).value(), Tensor::zeros({3}), sizeof(Real) == 8 ? 1e-12 : 1e-5);
  }
}

TEST_CASE("The loss of far apart logits [-431, 279, 427] is 858 with the gradient [-1, 0, 1]") {
  const Variable x = parameter(Tensor({3}, {-431, 279, 427}));
  const Variable loss = neg(sum(narrow(log_softmax(x), 0, 0, 1)));
  CHECK(loss.item() == 858);
  backward(loss);
  check_close(x.gradient(), Tensor({3}, {-1, 0, 1}));
  CHECK(all_finite(x.gradient()));
}

TEST_CASE("An element at minus infinity gets weight 0 and gradient 0") {
  const Variable x = parameter(Tensor({3}, {1, -std::numeric_limits<Real>::infinity(), 2}));
  const Variable z = softmax(x);
  CHECK(z.value().at({1}) == 0);
  backward(z, Tensor({3}, {1, 5, 2}));
  CHECK(x.gradient().at({1}) == 0);
  CHECK(all_finite(x.gradient()));
}

TEST_CASE("A softmax along an axis without elements has no elements, and neither has its gradient") {
  for (const auto f : {&softmax, static_cast<Variable (*)(const Variable&, int, Where)>(&log_softmax)}) {
    const Variable x = parameter(Tensor::zeros({10, 0}));
    const Variable z = f(x, 1, Where::current());
    CHECK(to_string(z.shape()) == "[10, 0]");
    backward(z, Tensor::zeros({10, 0}));
    CHECK(to_string(x.gradient().shape()) == "[10, 0]");
  }
}

TEST_CASE("The softmax of a scalar is 1, along the axes 0 and -1 only") {
  const Variable x = parameter(Tensor::scalar(7));
  for (const int axis : {0, -1}) CHECK(softmax(x, axis).item() == 1);
  for (const int axis : {1, -2}) CHECK_THROWS_AS(softmax(x, axis), RangeError);
  const auto line = Where::current().line() + 1;
  const std::string message = thrown_by<RangeError>([&] { log_softmax(x, 1); });
  CHECK(holds(message, "softmax_test.cpp:" + std::to_string(line)));
}

}  // namespace segue::autograd_softmax_test
