#include "autograd/tools/recompute.hpp"

#include <algorithm>
#include <cmath>
#include <list>
#include <optional>
#include <utility>

#include "autograd/backward.hpp"
#include "tensor/fail.hpp"

namespace segue {
namespace {

// The same value with no history, so that a graph built on it ends here.
Variable leaf_with_value_of(const Variable& x) {
  return x.needs_gradient() ? parameter(x.value(), x.label()) : Variable(x.value(), x.label());
}

bool same_values(const Tensor& x, const Tensor& y) {
  if (!(x.shape() == y.shape())) return false;
  const Tensor a = x.contiguous(), b = y.contiguous();
  const auto same = [](Real p, Real q) { return p == q || (std::isnan(p) && std::isnan(q)); };
  return std::equal(a.data(), a.data() + a.size(), b.data(), same);
}

// While one lives, `random` repeats what it gave from the state `from` on; then it is as before.
// Both may be empty.
class Repeat {
 public:
  Repeat(Random* random, const std::optional<Random>& from) : random_(random) {
    if (random_ != nullptr) before_ = std::exchange(*random_, *from);
  }
  ~Repeat() {
    if (random_ != nullptr) *random_ = *before_;
  }
  Repeat(const Repeat&) = delete;
  Repeat& operator=(const Repeat&) = delete;

 private:
  Random* random_;
  std::optional<Random> before_;
};

}  // namespace

// z = f(x, y, ..)
struct Recompute : Node {
  std::function<Variable(const std::vector<Variable>&)> f;
  std::list<Saved> given;  // the values of all inputs
  std::size_t arguments =
      0;  // the first of the inputs; behind them stand the leaves that f uses beside them
  Random* random = nullptr;
  std::optional<Random> random_before;

  void backward(const Tensor& dz) override {
    std::size_t next = 0;
    for (const Saved& before : given) {
      const Node& input = *inputs[next++];
      if (input.value.storage() == before.storage()) continue;
      fail<GraphError>(where, "recompute: '{}' was given another value before backward",
                       input.label);
    }
    std::vector<Variable> x;
    for (std::size_t i = 0; i < arguments; ++i)
      x.push_back(leaf_with_value_of(Variable(inputs[i])));
    const Variable z = [&] {
      const Repeat repeat(random, random_before);
      return f(x);
    }();
    if (!z.needs_gradient())
      fail<GraphError>(where, "recompute: backward cannot record under a NoGradientGuard");
    if (!same_values(z.value(), value)) {
      fail<GraphError>(
          where, "recompute: the function gives another value in backward than it gave before");
    }
    segue::backward(z, dz, Graph::release, where);  // other leaves get their gradients here
    for (std::size_t i = 0; i < arguments; ++i) {
      if (x[i].has_gradient()) accumulate(i, x[i].gradient());
    }
  }
};

Variable recompute(const std::function<Variable(const std::vector<Variable>&)>& f,
                   const std::vector<Variable>& inputs, Random* random, Where where) {
  auto op = make_node<Recompute>();
  op->f = f;
  op->arguments = inputs.size();
  op->random = random;
  if (random != nullptr) op->random_before = *random;

  std::vector<Variable> x;
  for (const Variable& input : inputs) x.push_back(leaf_with_value_of(input));
  const Variable z = f(x);  // its graph ends with this function
  if (!z.needs_gradient()) return record("recompute", op, z.value(), {}, where);
  std::vector<Variable> used = inputs;
  for (const std::shared_ptr<Node>& node : topological_order(z)) {
    if (!node->inputs.empty() && node->id < op->id) {
      fail<GraphError>(
          where, "recompute: the function uses {} '{}' made at {}, which is not among its inputs",
          node->op, node->label, short_location(node->where));
    }
    const bool argument = std::any_of(
        x.begin(), x.end(), [&](const Variable& known) { return known.shared_node() == node; });
    if (node->inputs.empty() && !argument) used.emplace_back(node);
  }
  for (const Variable& input : used) op->given.emplace_back(op.get()) = input.value();
  return record("recompute", op, z.value(), std::vector<VariableRef>(used.begin(), used.end()),
                where);
}

}  // namespace segue
