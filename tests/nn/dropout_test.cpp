#include "nn/dropout.hpp"

#include <doctest/doctest.h>

#include "autograd/backward.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::nn_dropout_test {

TEST_CASE("In evaluation dropout is x itself, whatever the rate") {
  const Variable x = parameter(random_tensor({4, 5}));
  const Variable z = Mode::evaluate().dropout(x, Real(0.9));
  CHECK(z.shared_node() == x.shared_node());
}

TEST_CASE("In training dropout draws from the generator it was given") {
  Random random(3), twin(3);
  const Variable x = parameter(random_tensor({4, 5}));
  const Mode mode = Mode::train(random);
  CHECK(same_bits(mode.dropout(x, Real(0.5)).value(), dropout(x, Real(0.5), twin).value()));
  CHECK(random.state() == twin.state());
  const Mode copy = mode;
  CHECK(same_bits(copy.dropout(x, Real(0.5)).value(), dropout(x, Real(0.5), twin).value()));
}

TEST_CASE("Training is random again after an evaluation, and the evaluation draws nothing") {
  const Variable x = parameter(Tensor::full({100}, 1));
  Random random(3), without(3);
  const auto train = [&x](Random& r) { return Mode::train(r).dropout(x, Real(0.5)).value(); };
  const Tensor first = train(random);
  CHECK(same_bits(Mode::evaluate().dropout(x, Real(0.5)).value(), x.value()));
  CHECK(same_bits(Mode::evaluate().dropout(x, Real(0.5)).value(), x.value()));
  const Tensor second = train(random);
  CHECK_FALSE(same_bits(second, x.value()));
  CHECK_FALSE(same_bits(second, first));
  CHECK(same_bits(train(without), first));
  CHECK(same_bits(train(without), second));
}

TEST_CASE("The gradient passes where dropout kept the value, scaled alike") {
  Random random(5);
  const Variable x = parameter(Tensor::full({50}, 1));
  const Variable z = Mode::train(random).dropout(x, Real(0.25));
  const Tensor kept = z.value();
  backward(z, Tensor::full({50}, 1));
  CHECK(same_bits(x.gradient(), kept));
}

TEST_CASE("A wrong rate in training is an error at the caller's line") {
  Random random(3);
  const Variable x = parameter(Tensor::zeros({5}));
  const auto line = Where::current().line() + 1;
  const std::string message = thrown_by<ValueError>([&] { Mode::train(random).dropout(x, 1); });
  CHECK(holds(message, "dropout_test.cpp:" + std::to_string(line)));
}

}  // namespace segue::nn_dropout_test
