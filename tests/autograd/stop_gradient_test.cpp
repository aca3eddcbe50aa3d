#include "autograd/stop_gradient.hpp"

#include <doctest/doctest.h>

#include "autograd/backward.hpp"
#include "autograd/tools/functions.hpp"
#include "autograd/tools/graph.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::autograd_stop_gradient_test {

TEST_CASE("A stop-gradient passes the value on, bit for bit, and no gradient") {
  const Variable x = parameter(random_tensor({3}));
  const Variable y = exp(x);
  const Variable z = stop_gradient(y);
  CHECK(same_bits(z.value(), y.value()));
  CHECK_FALSE(z.needs_gradient());
  backward(sum(z * x));
  CHECK(same_bits(x.gradient(), y.value()));  // y counts as a number
  CHECK_THROWS_AS(backward(sum(z)), GraphError);
}

TEST_CASE("The gradient with a stop is that of central differences with what it passes held fixed") {
  if (sizeof(Real) != 8) return;
  const Tensor start = random_tensor({4});
  const Variable x = parameter(start.clone());
  backward(sum(tanh(stop_gradient(x * x) * x)));
  const Variable held(mul(Variable(start), Variable(start)).value());
  const GradientCheck check =
      check_gradient([&](const std::vector<Variable>& v) { return sum(tanh(held * v[0])); }, {start});
  CHECK(check.error < 1e-7);
  const Variable twin = parameter(start.clone());
  backward(sum(tanh(held * twin)));
  check_close(x.gradient(), twin.gradient());
}

TEST_CASE("What lies behind a stop-gradient is freed") {
  const Variable x = parameter(random_tensor({3}));
  const std::int64_t before = live_node_count();
  Variable memory = x;
  for (int segment = 0; segment < 100; ++segment) memory = stop_gradient(tanh(memory + x * x));
  CHECK(live_node_count() == before + 1);
  CHECK(memory.node().inputs.empty());
}

TEST_CASE("A stop-gradient tells what it cut: the label, or else the op, and shows dashed in the graph") {
  Variable x = parameter(Tensor::zeros({2}), "x");
  Variable hidden = tanh(x);
  const Variable plain = stop_gradient(hidden);
  CHECK(plain.label() == "tanh");
  hidden.set_label("layer 1");
  const auto line = Where::current().line() + 1;
  const Variable memory = stop_gradient(hidden);
  CHECK(memory.label() == "layer 1");
  CHECK(memory.node().cut == hidden.node().id);
  CHECK(memory.node().where.line() == line);
  const Variable z = memory * x;
  CHECK(holds(graph_as_tree(z), "stop_gradient of 'layer 1' [2]"));
  CHECK_FALSE(holds(graph_as_tree(z), "tanh"));
  CHECK(holds(graph_as_dot(z), "stop_gradient of 'layer 1' [2]\", style=dashed]"));
  const std::string both = graph_as_dot(memory * hidden);
  CHECK(holds(both, " -> n" + std::to_string(memory.node().id) + " [style=dashed, arrowhead=none];"));
}

}  // namespace segue::autograd_stop_gradient_test
