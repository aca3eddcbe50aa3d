#include "autograd/variable.hpp"

#include <doctest/doctest.h>

#include "autograd/backward.hpp"
#include "autograd/shaping.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::autograd_variable_test {

TEST_CASE("A variable is a constant, a parameter a leaf that gradients flow into") {
  const Variable constant(Tensor::full({2}, 3), "c");
  const Variable leaf = parameter(Tensor::full({2}, 3), "w");
  CHECK_FALSE(constant.needs_gradient());
  CHECK(leaf.needs_gradient());
  CHECK(leaf.label() == "w");
  CHECK(std::string(leaf.node().op) == "parameter");
  CHECK(std::string(constant.node().op) == "constant");
  CHECK_FALSE(leaf.has_gradient());
  const Variable same = leaf;
  CHECK(same.shared_node() == leaf.shared_node());
}

TEST_CASE("A node remembers its op, its inputs in order, and the source line that made it") {
  const Variable x = parameter(Tensor::scalar(2)), y = parameter(Tensor::scalar(3));
  const auto line = Where::current().line() + 1;
  const Variable z = sub(x, y);
  CHECK(std::string(z.node().op) == "sub");
  CHECK(z.node().where.line() == line);
  CHECK(holds(short_location(z.node().where), "autograd/variable_test.cpp:"));
  REQUIRE(z.node().inputs.size() == 2);
  CHECK(z.node().inputs[0] == x.shared_node());
  CHECK(z.node().inputs[1] == y.shared_node());
}

TEST_CASE("A node keeps as many inputs as it was given, in order, and lets all go after backward") {
  for (const std::size_t n : {1U, 2U, 3U, 7U}) {
    std::vector<Variable> x;
    for (std::size_t i = 0; i < n; ++i) x.push_back(parameter(Tensor::full({1}, static_cast<Real>(i))));
    const std::int64_t before = live_node_count();
    const Variable z = concat(x, 0);
    REQUIRE(z.node().inputs.size() == n);
    for (std::size_t i = 0; i < n; ++i) CHECK(z.node().inputs[i] == x[i].shared_node());
    backward(z, z.value());
    CHECK(z.node().inputs.empty());
    for (std::size_t i = 0; i < n; ++i) {
      CHECK(x[i].gradient().item() == static_cast<Real>(i));
      CHECK(x[i].shared_node().use_count() == 1);
    }
    CHECK(live_node_count() == before + 1);
  }
}

TEST_CASE("An op of constants is a constant that holds nothing else alive") {
  const std::int64_t before = live_node_count();
  const Variable z = mul(Variable(Tensor::scalar(2)), Variable(Tensor::scalar(3)));
  CHECK(z.item() == 6);
  CHECK_FALSE(z.needs_gradient());
  CHECK(z.node().inputs.empty());
  CHECK(live_node_count() == before + 1);
}

TEST_CASE("Under a NoGradientGuard nothing is recorded, and the guard nests") {
  const Variable x = parameter(Tensor::scalar(2));
  {
    const NoGradientGuard outer;
    { const NoGradientGuard inner; }
    const std::int64_t before = live_node_count();
    const Variable z = x * x;
    CHECK(z.item() == 4);
    CHECK_FALSE(z.needs_gradient());
    CHECK(z.node().inputs.empty());
    CHECK(live_node_count() == before + 1);
    CHECK_THROWS_AS(backward(z), GraphError);
  }
  CHECK((x * x).needs_gradient());
}

TEST_CASE("Reading a gradient that is not there is an error naming the parameter and the line") {
  const Variable x = parameter(Tensor::scalar(2), "weight");
  const auto line = Where::current().line() + 1;
  const std::string message = thrown_by<GraphError>([&] { x.gradient(); });
  CHECK(holds(message, "'weight'"));
  CHECK(holds(message, "variable_test.cpp:" + std::to_string(line)));
}

TEST_CASE("A gradient can be cleared and replaced by one of the same shape only") {
  Variable x = parameter(Tensor::zeros({2, 3}), "w");
  x.set_gradient(Tensor::full({2, 3}, 5));
  CHECK(x.gradient().at({1, 2}) == 5);
  const std::string message = thrown_by<ShapeError>([&] { x.set_gradient(Tensor::zeros({3, 2})); });
  CHECK(holds(message, "[3, 2]"));
  CHECK(holds(message, "[2, 3]"));
  CHECK(x.gradient().at({1, 2}) == 5);
  x.clear_gradient();
  CHECK_FALSE(x.has_gradient());
}

TEST_CASE("Only a leaf can be given a value, and only one of its shape") {
  Variable x = parameter(Tensor::zeros({2}));
  x.set_value(Tensor::full({2}, 4));
  CHECK(x.value().at({1}) == 4);
  CHECK(holds(thrown_by<ShapeError>([&] { x.set_value(Tensor::zeros({3})); }), "[3]"));
  Variable z = neg(x);
  CHECK(holds(thrown_by<GraphError>([&] { z.set_value(Tensor::zeros({2})); }), "neg"));
  backward(z, Tensor::full({2}, 1));
  CHECK_THROWS_AS(z.set_value(Tensor::zeros({2})), GraphError);
}

TEST_CASE("The plain number of a loss keeps no graph alive") {
  const Variable x = parameter(Tensor::scalar(2));
  const std::int64_t before = live_node_count();
  std::vector<Real> history;
  for (int step = 0; step < 5; ++step) history.push_back((x * x).item());
  CHECK(history.back() == 4);
  CHECK(live_node_count() == before);
}

TEST_CASE("A contribution of the wrong shape is an error of the op that gave it") {
  struct Wrong : Node {
    void backward(const Tensor&) override { accumulate(0, Tensor::zeros({3})); }
  };
  const Variable x = parameter(Tensor::zeros({2}));
  const Variable z = record("wrong", std::make_shared<Wrong>(), Tensor::zeros({2}), {x}, Where::current());
  const std::string message = thrown_by<GraphError>([&] { backward(z, Tensor::zeros({2})); });
  CHECK(holds(message, "wrong"));
  CHECK(holds(message, "[3]"));
  CHECK(holds(message, "[2]"));
}

}  // namespace segue::autograd_variable_test
