#include "autograd/tools/recompute.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "autograd/backward.hpp"
#include "autograd/masking.hpp"
#include "autograd/matmul.hpp"
#include "autograd/stop_gradient.hpp"
#include "autograd/tools/functions.hpp"
#include "autograd/tools/graph.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::autograd_recompute_test {

namespace {

// What is compared: a run with recompute and the same run without.
enum class Way { plain, recomputed };

Variable run(Way way, const Function& f, const std::vector<Variable>& inputs, Random* random = nullptr) {
  return way == Way::plain ? f(inputs) : recompute(f, inputs, random);
}

// Several ops, inner values with two users, and dropout twice.
Variable busy(const Variable& x, const Variable& w, Random& random) {
  const Variable y = tanh(matmul(x, w));
  const Variable z = dropout(y * y + exp(y), Real(0.4), random);
  return matmul(dropout(z, Real(0.2), random), transpose(w, 0, 1)) * sigmoid(x);
}

struct Result {
  Tensor z, dx, dw, dp;
  double next;  // what the generator gives afterwards
};

// Three blocks in a row that share a leaf w and each see one of their own, p, and then a loss.
Result three_blocks(Way way) {
  const Variable x = parameter(random_tensor({5, 4})), w = parameter(random_tensor({4, 3}, -1, 1, 8));
  const Variable p = parameter(random_tensor({5, 4}, -1, 1, 9));
  Random random(3);
  Variable h = exp(x);
  for (int block = 0; block < 3; ++block) {
    h = run(
        way, [&random, w, p](const std::vector<Variable>& v) { return busy(v[0], w, random) + p * v[0]; }, {h},
        &random);
  }
  const Variable z = h;
  backward(sum(tanh(z)));
  return {z.value(), x.gradient(), w.gradient(), p.gradient(), random.uniform()};
}

}  // namespace

TEST_CASE("Recomputed blocks give the value, the gradients and the random numbers of plain ones, bit for bit") {
  const Result plain = three_blocks(Way::plain), recomputed = three_blocks(Way::recomputed);
  CHECK(same_bits(recomputed.z, plain.z));
  CHECK(same_bits(recomputed.dx, plain.dx));
  CHECK(same_bits(recomputed.dw, plain.dw));  // captured leaves get theirs
  CHECK(same_bits(recomputed.dp, plain.dp));
  CHECK(recomputed.next == plain.next);
}

TEST_CASE("Backward leaves the generator where it found it") {
  Random random(3), twin(3);
  const Variable x = parameter(random_tensor({50}));
  const auto drop = [&](const std::vector<Variable>& v) { return dropout(v[0], Real(0.5), random); };
  const Variable z = recompute(drop, {x}, &random);
  dropout(x, Real(0.5), twin);
  CHECK(random.state() == twin.state());
  random.uniform();
  const std::string before = random.state();
  backward(sum(z));
  CHECK(random.state() == before);
  CHECK(same_bits(z.value(), mul(x, Variable(x.gradient())).value()));  // the gradient went through the same mask
}

TEST_CASE("Recomputed gradients agree with central differences") {
  const auto f = [](const std::vector<Variable>& v) { return tanh(v[0] * v[1]) + exp(v[1]); };
  check_gradients([&](const std::vector<Variable>& v) { return recompute(f, v); }, {{3, 2}, {2}});
  // The same variable twice, and one block in another.
  check_gradients([&](const std::vector<Variable>& v) { return recompute(f, {v[0], v[0]}); }, {{3, 2}});
  const auto nested = [&](const std::vector<Variable>& v) { return recompute(f, {exp(v[0]), v[1]}) * v[0]; };
  check_gradients([&](const std::vector<Variable>& v) { return recompute(nested, v); }, {{3, 2}, {2}});
}

TEST_CASE("A nested block may see the inputs of the outer one as leaves, with the bits of plain code") {
  std::vector<Tensor> gradients;
  for (const Way way : {Way::plain, Way::recomputed}) {
    const Variable x = parameter(random_tensor({4})), w = parameter(random_tensor({4}, -1, 1, 8));
    Random random(2);
    const auto outer = [&](const std::vector<Variable>& v) {
      const Variable a = v[0];
      const auto inner = [&random, a, w](const std::vector<Variable>& u) {
        return dropout(u[0] * w, Real(0.3), random) + a;
      };
      return dropout(run(way, inner, {tanh(a)}, &random), Real(0.3), random);
    };
    backward(sum(run(way, outer, {exp(x)}, &random) * w));
    gradients.push_back(x.gradient());
    gradients.push_back(w.gradient());
  }
  CHECK(same_bits(gradients[0], gradients[2]));
  CHECK(same_bits(gradients[1], gradients[3]));
}

TEST_CASE("Only inputs that need a gradient get one, and a block that needs none is a constant") {
  const Variable x = parameter(random_tensor({3})), c(random_tensor({3}));
  const auto product = [](const std::vector<Variable>& v) { return v[0] * v[1]; };
  backward(sum(recompute(product, {c, x})));
  CHECK(same_bits(x.gradient(), c.value()));
  CHECK_FALSE(c.has_gradient());
  CHECK_FALSE(recompute(product, {c, c}).needs_gradient());
  const auto by_captured = [x](const std::vector<Variable>& v) { return v[0] * x; };
  x.shared_node()->has_gradient = false;
  backward(sum(recompute(by_captured, {c})));  // no input needs one, a captured leaf does
  CHECK(same_bits(x.gradient(), c.value()));
  const auto stopped = [](const std::vector<Variable>& v) { return stop_gradient(v[0] * v[1]); };
  const Variable z = recompute(stopped, {c, x});
  CHECK_FALSE(z.needs_gradient());
  CHECK(z.node().inputs.empty());
  x.shared_node()->has_gradient = false;
  backward(sum(z + x));
  CHECK(same_bits(x.gradient(), Tensor::full({3}, 1)));
  const NoGradientGuard no_gradient;
  const Variable quiet = recompute(product, {c, x});
  CHECK_FALSE(quiet.needs_gradient());
  CHECK(same_bits(quiet.value(), (c * x).value()));
}

TEST_CASE("A block may be the identity, a constant function, a captured leaf, or without elements") {
  const Variable x = parameter(random_tensor({3})), p = parameter(random_tensor({3}, -1, 1, 8));
  const Variable same = recompute([](const std::vector<Variable>& v) { return v[0]; }, {x});
  CHECK(same_bits(same.value(), x.value()));
  backward(sum(same * same));
  CHECK(same_bits(x.gradient(), scale(x, 2).value()));
  const Variable leaf = recompute([&p](const std::vector<Variable>&) { return p; }, {x});
  backward(sum(leaf * leaf));
  CHECK(same_bits(p.gradient(), scale(p, 2).value()));
  const Variable c = recompute([](const std::vector<Variable>&) { return Variable(Tensor::zeros({2})); }, {x});
  CHECK_FALSE(c.needs_gradient());
  const Variable none = parameter(Tensor::zeros({0, 3}));
  backward(sum(recompute([](const std::vector<Variable>& v) { return exp(v[0]); }, {none})));
  CHECK(none.gradient().shape() == Shape{0, 3});
}

TEST_CASE("Graph::keep allows a second backward, which adds the same again") {
  const Variable x = parameter(random_tensor({4})), w = parameter(random_tensor({4}, -1, 1, 8));
  Random random(5);
  const auto f = [&](const std::vector<Variable>& v) { return tanh(dropout(exp(v[0]), Real(0.5), random) * w); };
  const Variable loss = sum(recompute(f, {x * x}, &random));
  backward(loss, Graph::keep);
  const Tensor dx = x.gradient().clone(), dw = w.gradient().clone();
  backward(loss);
  CHECK(same_bits(x.gradient(), add(Variable(dx), Variable(dx)).value()));
  CHECK(same_bits(w.gradient(), add(Variable(dw), Variable(dw)).value()));
  CHECK(holds(thrown_by<GraphError>([&] { backward(loss); }), "Graph::keep"));
}

TEST_CASE("The graph of a block is one node, and after backward all nodes but the leaves are gone") {
  const Variable x = parameter(random_tensor({4}));
  const std::int64_t before = live_node_count();
  {
    const auto f = [](const std::vector<Variable>& v) {
      Variable y = v[0];
      for (int i = 0; i < 20; ++i) y = tanh(y);
      return y;
    };
    Variable h = x;
    for (int block = 0; block < 5; ++block) h = recompute(f, {h});
    CHECK(live_node_count() == before + 5);
    CHECK(graph_size(h) == 6);
    backward(sum(h));
  }
  CHECK(live_node_count() == before);
}

TEST_CASE("A long chain of blocks is walked and freed on a small stack") {
  const Variable x = parameter(Tensor::scalar(1));
  Variable h = x;
  for (int block = 0; block < 20000; ++block) {
    h = recompute([](const std::vector<Variable>& v) { return v[0] + v[0]; }, {scale(h, Real(0.5))});
  }
  backward(h);
  CHECK(x.gradient().item() == 1);
}

TEST_CASE("A captured variable with a history is an error that names it") {
  const Variable x = parameter(random_tensor({3}));
  Variable y = tanh(x);
  y.set_label("y");
  const auto f = [&](const std::vector<Variable>& v) { return v[0] * y; };
  const std::string message = message_of<GraphError>([&] { recompute(f, {x}); });
  CHECK(holds(message, "tanh 'y' made at "));
  CHECK(holds(message, "not among its inputs"));
  const Variable constant = stop_gradient(y);  // has none
  CHECK(recompute([&](const std::vector<Variable>& v) { return v[0] * constant; }, {x}).needs_gradient());
  // Within a block, a value made before a nested one counts as well.
  const auto outer = [](const std::vector<Variable>& v) {
    const Variable inside = exp(v[0]);
    return recompute([&](const std::vector<Variable>& u) { return u[0] * inside; }, {v[0]});
  };
  CHECK(holds(thrown_by<GraphError>([&] { recompute(outer, {x}); }), "uses exp"));
}

TEST_CASE("A value changed between the two runs is an error, and no gradient is given out") {
  const auto f = [](const Variable& w) { return [w](const std::vector<Variable>& v) { return v[0] * w; }; };
  for (const bool captured : {false, true}) {
    Variable x = parameter(random_tensor({3})), w = parameter(random_tensor({3}, -1, 1, 8), "w");
    Variable& changed = captured ? w : x;
    const Variable in_place = sum(recompute(f(w), {x}));
    Tensor(changed.value()).set_in_place({0}, 5);
    CHECK(holds(thrown_by<GraphError>([&] { backward(in_place); }), "changed in place after its use"));
    const Variable replaced = sum(recompute(f(w), {x}));
    changed.set_value(random_tensor({3}, -1, 1, 30));
    CHECK(holds(thrown_by<GraphError>([&] { backward(replaced); }), "another value before backward"));
    CHECK_FALSE(x.has_gradient());
    CHECK_FALSE(w.has_gradient());
  }
}

TEST_CASE("A function that gives another value the second time is an error") {
  const Variable x = parameter(random_tensor({50}));
  Random random(4);
  const auto drop = [&](const std::vector<Variable>& v) { return dropout(v[0], Real(0.5), random); };
  const Variable z = recompute(drop, {x});  // the generator is not passed on
  CHECK(holds(thrown_by<GraphError>([&] { backward(sum(z)); }), "gives another value in backward"));
  Index rows = 0;
  const auto grows = [&](const std::vector<Variable>& v) { return broadcast_to(v[0], {++rows, 50}); };
  const Variable wider = recompute(grows, {x});
  CHECK(holds(thrown_by<GraphError>([&] { backward(sum(wider)); }), "gives another value in backward"));
  const Variable nan = parameter(Tensor::full({2}, std::numeric_limits<Real>::quiet_NaN()));
  backward(sum(recompute([](const std::vector<Variable>& v) { return exp(v[0]); }, {nan})));  // NaN agrees with NaN
  CHECK(nan.has_gradient());
}

TEST_CASE("What the function throws comes through, and the generator stands where it stood") {
  const Variable x = parameter(random_tensor({3}));
  Random random(4);
  bool broken = false;
  const auto f = [&](const std::vector<Variable>& v) {
    const Variable y = dropout(exp(v[0]), Real(0.5), random);
    return broken ? matmul(y, y) : y;
  };
  const Variable loss = sum(recompute(f, {x}, &random));
  const std::string before = random.state();
  broken = true;
  CHECK_THROWS_AS(backward(loss, Graph::keep), ShapeError);
  CHECK(random.state() == before);
  broken = false;
  backward(loss);
  CHECK(x.has_gradient());
}

TEST_CASE("The guards of backward hold inside a block") {
  const Variable x = parameter(Tensor::zeros({2}));
  const auto root = [](const std::vector<Variable>& v) { return sqrt(v[0]) * v[0]; };
  {
    const Variable loss = sum(recompute(root, {x}));
    const FiniteGradientGuard guard;
    const std::string message = thrown_by<GraphError>([&] { backward(loss); });
    CHECK(holds(message, "backward of sqrt"));
  }
  const Variable loss = sum(recompute([](const std::vector<Variable>& v) { return exp(v[0]); }, {x}));
  const NoGradientGuard no_gradient;
  CHECK(holds(thrown_by<GraphError>([&] { backward(loss); }), "NoGradientGuard"));
}

}  // namespace segue::autograd_recompute_test
