#include "autograd/masking.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "autograd/backward.hpp"
#include "autograd/softmax.hpp"
#include "tensor/elementwise.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::autograd_masking_test {

TEST_CASE("masked_fill has the value of the same function of tensors, and no gradient where it filled") {
  const Tensor x = random_tensor({2, 3}), mask({3}, {0, 1, 0});
  const Variable a = parameter(x);
  const Variable z = masked_fill(a, mask, 9);
  CHECK(same_bits(z.value(), masked_fill(x, mask, 9)));
  backward(z, Tensor::full({2, 3}, 2));
  CHECK(a.gradient().to_vector() == std::vector<Real>{2, 0, 2, 2, 0, 2});
}

TEST_CASE("masked_fill and dropout have the gradients of central differences") {
  check_gradients(
      [](const std::vector<Variable>& x) {
        return masked_fill(x[0], Tensor({3}, {0, 1, 0}), 4);
      },
      {{2, 3}});
  check_gradients(
      [](const std::vector<Variable>& x) {
        return masked_fill(x[0], Tensor({2, 1}, {0, 1}), 4);
      },
      {{2, 3}});
  const auto f = [](const std::vector<Variable>& x) {
    Random random(5);
    return dropout(x[0], Real(0.4), random);
  };
  check_gradients(f, {{4, 5}});
}

TEST_CASE("A hidden key has weight exactly 0, and changing it changes nothing") {
  const Tensor mask({3}, {0, 1, 0});
  const Real hidden = -std::numeric_limits<Real>::infinity();
  const auto weights = [&](Real key) {
    return softmax(masked_fill(parameter(Tensor({3}, {1, key, 2})), mask, hidden)).value();
  };
  CHECK(weights(5).at({1}) == 0);
  CHECK(same_bits(weights(5), weights(-70)));
}

TEST_CASE("A mask that does not broadcast is an error with both shapes") {
  const Variable x = parameter(Tensor::zeros({2, 3}));
  const auto line = Where::current().line() + 1;
  const std::string message = thrown_by<ShapeError>([&] { masked_fill(x, Tensor::zeros({4}), 0); });
  CHECK(holds(message, "[2, 3]"));
  CHECK(holds(message, "[4]"));
  CHECK(holds(message, "masking_test.cpp:" + std::to_string(line)));
}

TEST_CASE("Dropout keeps the mean, drops the share it was told to, and scales the others") {
  Random random(3);
  const Index n = 40000;
  const Variable x = parameter(Tensor::full({n}, 2));
  const Variable z = dropout(x, Real(0.25), random);
  Index dropped = 0;
  double total = 0;
  bool scaled = true;
  for (const Real a : z.value().to_vector()) {
    dropped += a == 0 ? 1 : 0;
    total += static_cast<double>(a);
    scaled = scaled && (a == 0 || std::abs(static_cast<double>(a) - 2 / 0.75) < 1e-6);
  }
  CHECK(scaled);
  CHECK(total / static_cast<double>(n) == doctest::Approx(2).epsilon(0.02));
  CHECK(static_cast<double>(dropped) / static_cast<double>(n) == doctest::Approx(0.25).epsilon(0.05));
  backward(sum(z));
  check_close(scale(x.gradient(), 2), z.value());  // the same mask both ways
}

TEST_CASE("The same seed drops the same elements, the next draw others") {
  const Variable x = parameter(Tensor::full({100}, 1));
  Random a(3), b(3);
  const Tensor first = dropout(x, Real(0.5), a).value();
  CHECK(same_bits(first, dropout(x, Real(0.5), b).value()));
  CHECK_FALSE(same_bits(first, dropout(x, Real(0.5), a).value()));
}

TEST_CASE("Dropout at rate 0 is the identity and draws nothing") {
  Random random(3);
  const std::string before = random.state();
  const Variable x = parameter(random_tensor({5}));
  const Variable z = dropout(x, 0, random);
  CHECK(same_bits(z.value(), x.value()));
  CHECK(random.state() == before);
  backward(sum(z));
  CHECK(same_bits(x.gradient(), Tensor::full({5}, 1)));
}

TEST_CASE("A dropout rate outside [0, 1) is an error that shows it") {
  Random random(3);
  const Variable x = parameter(Tensor::zeros({5}));
  for (const Real rate : {Real(1), Real(-0.5), Real(2), std::numeric_limits<Real>::quiet_NaN()}) {
    CHECK_THROWS_AS(dropout(x, rate, random), ValueError);
  }
  const auto line = Where::current().line() + 1;
  const std::string message = thrown_by<ValueError>([&] { dropout(x, Real(1.5), random); });
  CHECK(holds(message, "1.5"));
  CHECK(holds(message, "masking_test.cpp:" + std::to_string(line)));
}

}  // namespace segue::autograd_masking_test
