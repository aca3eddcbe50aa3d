#include "nn/feed_forward.hpp"

#include <doctest/doctest.h>

#include "autograd/backward.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::nn_feed_forward_test {

namespace {

FeedForward feed_forward_of(const std::vector<Variable>& v) {
  Random random(1);
  FeedForward layer(v[0].dim(0), v[0].dim(1), random);
  layer.inner.w = v[0];
  layer.inner.b = v[1];
  layer.outer.w = v[2];
  layer.outer.b = v[3];
  return layer;
}

}  // namespace

TEST_CASE("The feed-forward layer is relu(x W_1 + b_1) W_2 + b_2, written out by hand") {
  const FeedForward layer = feed_forward_of({parameter(Tensor({1, 3}, {1, -1, 2})), parameter(Tensor({3}, {0, 1, -5})),
                                             parameter(Tensor({3, 1}, {10, 100, 1000})), parameter(Tensor({1}, {7}))});
  const Variable x(Tensor({1, 3, 1}, {3, -2, 0}));
  // The inner rows are relu [3, -2, 1], [-2, 3, -9] and [0, 1, -5].
  CHECK(layer(x, 0, Mode::evaluate()).value().to_vector() == std::vector<Real>{1037, 307, 107});
}

TEST_CASE("The feed-forward layer has the gradients of central differences, with and without dropout") {
  const std::vector<Shape> shapes = {{3, 6}, {6}, {6, 3}, {3}, {2, 4, 3}};
  check_gradients([](const std::vector<Variable>& v) { return feed_forward_of(v)(v[4], 0, Mode::evaluate()); }, shapes);
  const auto with_dropout = [](const std::vector<Variable>& v) {
    Random random(5);
    return feed_forward_of(v)(v[4], Real(0.4), Mode::train(random));
  };
  check_gradients(with_dropout, shapes);
}

TEST_CASE("Positions do not see each other in a feed-forward layer") {
  Random random(2);
  const FeedForward layer(4, 8, random);
  Tensor x = random_tensor({2, 3, 4});
  const Tensor before = layer(Variable(x), 0, Mode::evaluate()).value();
  x.set_in_place({1, 1, 0}, 9);
  const Tensor after = layer(Variable(x), 0, Mode::evaluate()).value();
  for (Index b = 0; b < 2; ++b) {
    for (Index t = 0; t < 3; ++t) {
      const bool same = same_bits(after.narrow(0, b, 1).narrow(1, t, 1), before.narrow(0, b, 1).narrow(1, t, 1));
      CHECK(same == !(b == 1 && t == 1));
    }
  }
}

TEST_CASE("Dropout stands between the relu and the second product, and only in training") {
  // One input, many hidden units of value 1, and an outer layer that shows them one by one.
  const Index hidden = 8;
  Tensor identity = Tensor::zeros({hidden, hidden});
  for (Index i = 0; i < hidden; ++i) identity.set_in_place({i, i}, 1);
  const FeedForward layer =
      feed_forward_of({parameter(Tensor::full({1, hidden}, 1)), parameter(Tensor::zeros({hidden})), parameter(identity),
                       parameter(Tensor::full({hidden}, 3))});
  const Variable x(Tensor({1, 1}, {1}));
  Random random(4), twin(4);
  const Tensor train = layer(x, Real(0.5), Mode::train(random)).value();
  const Tensor kept = dropout(Variable(Tensor::full({1, hidden}, 1)), Real(0.5), twin).value();
  for (Index i = 0; i < hidden; ++i) CHECK(train.at({0, i}) == 3 + kept.at({0, i}));  // the bias is not dropped
  CHECK(same_bits(layer(x, Real(0.5), Mode::evaluate()).value(), Tensor::full({1, hidden}, 4)));
  CHECK(same_bits(layer(x, 0, Mode::train(random)).value(), Tensor::full({1, hidden}, 4)));
}

TEST_CASE("The feed-forward layer names its four parameters, inner first") {
  Random random(3);
  FeedForward layer(3, 5, random);
  std::vector<std::string> names;
  layer.visit_parameters(
      "ff.", [&](const std::string& name, Variable& v) { names.push_back(name + " " + to_string(v.shape())); });
  CHECK(names ==
        std::vector<std::string>{"ff.inner.w [3, 5]", "ff.inner.b [5]", "ff.outer.w [5, 3]", "ff.outer.b [3]"});
}

TEST_CASE("Rows of the wrong width are an error at the caller's line") {
  Random random(3);
  const FeedForward layer(3, 5, random);
  const Variable x(Tensor::zeros({2, 4}));
  const auto line = Where::current().line() + 1;
  const std::string message = thrown_by<ShapeError>([&] { layer(x, 0, Mode::evaluate()); });
  CHECK(holds(message, "[2, 4]"));
  CHECK(holds(message, "feed_forward_test.cpp:" + std::to_string(line)));
}

}  // namespace segue::nn_feed_forward_test
