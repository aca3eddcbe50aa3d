#include "nn/linear.hpp"

#include <doctest/doctest.h>

#include "autograd/backward.hpp"
#include "tensor/elementwise.hpp"
#include "tensor/reduce.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::nn_linear_test {

namespace {

Linear linear_of(const Variable& w, const Variable& b) {
  Random random(1);
  Linear linear(w.dim(0), w.dim(1), random);
  linear.w = w;
  linear.b = b;
  return linear;
}

}  // namespace

TEST_CASE("Linear is x W + b, written out by hand") {
  const Linear linear = linear_of(parameter(Tensor({2, 3}, {1, 2, 3, 4, 5, 6})), parameter(Tensor({3}, {10, 20, 30})));
  const Variable x(Tensor({2, 2}, {1, 1, 2, -1}));
  CHECK(linear(x).value().to_vector() == std::vector<Real>{15, 27, 39, 8, 19, 30});
}

TEST_CASE("Linear follows its definition in every leading axis") {
  const Tensor w = random_tensor({4, 3}, -1, 1, 1), b = random_tensor({3}, -1, 1, 2), x = random_tensor({2, 5, 4});
  const Tensor y = linear_of(parameter(w), parameter(b))(Variable(x)).value();
  Tensor expected = Tensor::zeros({2, 5, 3});
  for (Index i = 0; i < 2; ++i) {
    for (Index t = 0; t < 5; ++t) {
      for (Index f = 0; f < 3; ++f) {
        Real sum = b.at({f});
        for (Index d = 0; d < 4; ++d) sum += x.at({i, t, d}) * w.at({d, f});
        expected.set_in_place({i, t, f}, sum);
      }
    }
  }
  check_close(y, expected);
}

TEST_CASE("Linear has the gradients of central differences in x, W and b") {
  check_gradients([](const std::vector<Variable>& v) { return linear_of(v[1], v[2])(v[0]); }, {{2, 3, 4}, {4, 5}, {5}});
}

TEST_CASE("The bias of a linear layer gets the sum of the gradients of all rows") {
  Random random(3);
  const Linear linear(4, 2, random);
  const Tensor dy = random_tensor({3, 5, 2});
  backward(linear(Variable(random_tensor({3, 5, 4}))), dy);
  check_close(linear.b.gradient(), sum(dy, {0, 1}));
}

TEST_CASE("A new linear layer has zero bias and weights that keep the size of x") {
  Random random(4);
  const Linear linear(64, 400, random);
  CHECK(same_bits(linear.b.value(), Tensor::zeros({400})));
  const Tensor w = linear.w.value();
  const double n = static_cast<double>(w.size());
  CHECK(static_cast<double>(sum(w).item()) / n == doctest::Approx(0).epsilon(0.01));
  CHECK(static_cast<double>(sum(mul(w, w)).item()) / n == doctest::Approx(1.0 / 64).epsilon(0.03));
  const Tensor y = linear(Variable(random.normal({50, 64}, 0, 1))).value();
  CHECK(static_cast<double>(sum(mul(y, y)).item()) / static_cast<double>(y.size()) == doctest::Approx(1).epsilon(0.1));
}

TEST_CASE("The same seed makes the same linear layer, another seed another") {
  Random a(5), b(5), c(6);
  const Tensor first = Linear(3, 4, a).w.value();
  CHECK(same_bits(first, Linear(3, 4, b).w.value()));
  CHECK_FALSE(same_bits(first, Linear(3, 4, c).w.value()));
}

TEST_CASE("A linear layer of nothing gives its bias, and no rows give no rows") {
  Random random(7);
  Linear linear(0, 2, random);
  linear.b.set_value(Tensor({2}, {3, 4}));
  CHECK(linear(Variable(Tensor::zeros({2, 0}))).value().to_vector() == std::vector<Real>{3, 4, 3, 4});
  const Linear wide(4, 2, random);
  const Variable none = parameter(Tensor::zeros({2, 0, 4}));
  const Variable y = wide(none);
  CHECK(to_string(y.shape()) == "[2, 0, 2]");
  backward(y, Tensor::zeros({2, 0, 2}));
  CHECK(same_bits(wide.w.gradient(), Tensor::zeros({4, 2})));
}

TEST_CASE("Rows of the wrong width, or no rows at all, are errors at the caller's line") {
  Random random(8);
  const Linear linear(4, 2, random);
  const auto line = Where::current().line() + 1;
  const std::string message = thrown_by<ShapeError>([&] { linear(Variable(Tensor::zeros({3, 5}))); });
  CHECK(holds(message, "[3, 5]"));
  CHECK(holds(message, "[4, 2]"));
  CHECK(holds(message, "linear_test.cpp:" + std::to_string(line)));
  CHECK_THROWS_AS(linear(Variable(Tensor::zeros({4}))), ShapeError);
}

}  // namespace segue::nn_linear_test
