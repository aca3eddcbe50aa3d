#include "nn/parameters.hpp"

#include <doctest/doctest.h>

#include "autograd/backward.hpp"
#include "nn/feed_forward.hpp"
#include "nn/layer_norm.hpp"
#include "nn/tools/parameter_summary.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::nn_parameters_test {

namespace {

struct Block {
  Block() : random(1), norm(3), feed_forward(3, 4, random) {}
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
    norm.visit_parameters(prefix + "norm.", visit);
    feed_forward.visit_parameters(prefix + "ff.", visit);
  }
  Random random;
  LayerNorm norm;
  FeedForward feed_forward;
};

}  // namespace

TEST_CASE("parameters lists all parameters of nested layers with their full names, in the same order every time") {
  Block block;
  for (int round = 0; round < 2; ++round) {
    std::vector<std::string> names;
    for (const Parameter& p : parameters(block)) names.push_back(p.name);
    CHECK(names ==
          std::vector<std::string>{"norm.gain", "norm.bias", "ff.inner.w", "ff.inner.b", "ff.outer.w", "ff.outer.b"});
  }
}

TEST_CASE("The listed parameters are handles: a change shows in the layer") {
  Block block;
  std::vector<Parameter> all = parameters(block);
  for (const Parameter& p : all) CHECK(p.variable.needs_gradient());
  all[1].variable.set_value(Tensor({3}, {7, 8, 9}));
  CHECK(block.norm.bias.value().to_vector() == std::vector<Real>{7, 8, 9});
}

TEST_CASE("parameter_count adds up all elements, and the summary shows them for each name") {
  Block block;
  const std::vector<Parameter> all = parameters(block);
  CHECK(parameter_count(all) == 3 + 3 + 12 + 4 + 12 + 3);
  CHECK(parameter_count({}) == 0);
  const std::string summary = parameter_summary(all);
  CHECK(holds(summary, "ff.inner.w  [3, 4]                  12\n"));
  CHECK(holds(summary, "norm.gain   [3]                      3\n"));
  CHECK(holds(summary, "total                               37\n"));
  CHECK(holds(parameter_summary({}), "total"));
}

TEST_CASE("Gradients add up over backward calls until they are cleared") {
  const Variable w = parameter(Tensor({2}, {1, 2}));
  const std::vector<Parameter> all = {{"w", w}, {"unused", parameter(Tensor({1}, {3}))}};
  for (int round = 0; round < 2; ++round) backward(sum(scale(w, 3)));
  CHECK(w.gradient().to_vector() == std::vector<Real>{6, 6});
  clear_gradients(all);
  CHECK_FALSE(w.has_gradient());
  backward(sum(scale(w, 3)));
  CHECK(w.gradient().to_vector() == std::vector<Real>{3, 3});
}

TEST_CASE("parameter_count counts a parameter that is named twice once") {
  const Variable w = parameter(Tensor::zeros({2, 3}));
  CHECK(parameter_count({{"in", w}, {"bias", parameter(Tensor::zeros({4}))}, {"out", w}}) == 6 + 4);
}

TEST_CASE("value_for_update gives the parameter's own numbers when nobody else looks at them") {
  Variable w = parameter(Tensor({2}, {1, 2}));
  const Real* before = w.value().data();
  Tensor value = value_for_update(w);
  value.fill_in_place(5);
  CHECK(w.value().data() == before);
  CHECK(w.value().to_vector() == std::vector<Real>{5, 5});
}

TEST_CASE("value_for_update leaves a reader of the old numbers what it had") {
  const Tensor source({2}, {1, 2});
  Variable w = parameter(source);
  const Tensor reader = w.value().narrow(0, 1, 1);
  value_for_update(w).fill_in_place(5);
  CHECK(w.value().to_vector() == std::vector<Real>{5, 5});
  CHECK(source.to_vector() == std::vector<Real>{1, 2});
  CHECK(reader.item() == 2);
}

TEST_CASE("value_for_update leaves a graph its old numbers, so that backward is still right") {
  Variable w = parameter(Tensor({2}, {3, 4}));
  const Variable loss = sum(w * w);
  value_for_update(w).fill_in_place(100);
  backward(loss);
  CHECK(w.gradient().to_vector() == std::vector<Real>{6, 8});
  CHECK(w.value().to_vector() == std::vector<Real>{100, 100});
}

TEST_CASE("value_for_update of a parameter with gaps gives contiguous numbers, and broadcast ones are taken apart") {
  Variable columns = parameter(Tensor({2, 3}, {1, 2, 3, 4, 5, 6}).transpose(0, 1));
  const Tensor value = value_for_update(columns);
  CHECK(value.is_contiguous());
  CHECK(value.to_vector() == std::vector<Real>{1, 4, 2, 5, 3, 6});
  Variable repeated = parameter(Tensor::scalar(2).broadcast_to({3}));
  value_for_update(repeated).set_in_place({0}, 7);
  CHECK(repeated.value().to_vector() == std::vector<Real>{7, 2, 2});
}

}  // namespace segue::nn_parameters_test
