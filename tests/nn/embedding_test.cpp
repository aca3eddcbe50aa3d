#include "nn/embedding.hpp"

#include <doctest/doctest.h>

#include "autograd/backward.hpp"
#include "autograd/matmul.hpp"
#include "tensor/elementwise.hpp"
#include "tensor/reduce.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::nn_embedding_test {

namespace {

Embedding embedding_of(const Variable& table) {
  Random random(1);
  Embedding embedding(table.dim(0), table.dim(1), random);
  embedding.table = table;
  return embedding;
}

}  // namespace

TEST_CASE("An embedding gives each token its row of the table") {
  const Embedding embedding = embedding_of(parameter(Tensor({3, 2}, {1, 2, 3, 4, 5, 6})));
  const Variable x = embedding(Tokens({2, 2}, {2, 0, 0, 1}));
  CHECK(to_string(x.shape()) == "[2, 2, 2]");
  CHECK(x.value().to_vector() == std::vector<Real>{5, 6, 1, 2, 1, 2, 3, 4});
  CHECK(to_string(embedding(Tokens(Shape{}, {1})).shape()) == "[2]");
  CHECK(to_string(embedding(Tokens({2, 0})).shape()) == "[2, 0, 2]");
}

TEST_CASE("An embedding is the product of one-hot rows with the table, gradient and all") {
  const Tensor table = random_tensor({4, 3});
  const Tokens tokens({5}, {1, 3, 3, 0, 3});
  Tensor one_hot = Tensor::zeros({5, 4});
  for (Index row = 0; row < 5; ++row) one_hot.set_in_place({row, tokens[row]}, 1);
  const Tensor dx = random_tensor({5, 3}, -1, 1, 9);
  const Embedding embedding = embedding_of(parameter(table));
  const Variable twin = parameter(table);
  const Variable x = embedding(tokens), y = matmul(Variable(one_hot), twin);
  CHECK(same_bits(x.value(), y.value()));
  backward(x, dx);
  backward(y, dx);
  check_close(embedding.table.gradient(), twin.gradient());
}

TEST_CASE("An embedding has the gradients of central differences") {
  const Tokens tokens({2, 3}, {0, 2, 2, 4, 0, 2});
  check_gradients([&](const std::vector<Variable>& v) { return embedding_of(v[0])(tokens); }, {{5, 3}});
}

TEST_CASE("A token that occurs twice collects both gradients, one that does not occur none") {
  const Embedding embedding = embedding_of(parameter(Tensor({2, 1}, {Real(0.1), 7})));
  backward(embedding(Tokens({2}, {0, 0})), Tensor({2, 1}, {Real(0.25), Real(0.5)}));
  CHECK(embedding.table.gradient().to_vector() == std::vector<Real>{Real(0.75), 0});
}

TEST_CASE("A new embedding has rows of length about 1") {
  Random random(2);
  const Embedding embedding(100, 50, random);
  const Tensor table = embedding.table.value();
  CHECK(static_cast<double>(sum(mul(table, table)).item()) / 100 == doctest::Approx(1).epsilon(0.05));
}

TEST_CASE("A token outside the vocabulary is an error at the caller's line") {
  Random random(3);
  const Embedding embedding(4, 2, random);
  for (const Index token : {Index{4}, Index{-1}, Index{-100}}) {
    CHECK_THROWS_AS(embedding(Tokens({1}, {token})), RangeError);
  }
  const auto line = Where::current().line() + 1;
  const std::string message = thrown_by<RangeError>([&] { embedding(Tokens({1, 2}, {3, 4})); });
  CHECK(holds(message, "index 4 at position 1 is outside 0 .. 3"));
  CHECK(holds(message, "embedding_test.cpp:" + std::to_string(line)));
}

}  // namespace segue::nn_embedding_test
