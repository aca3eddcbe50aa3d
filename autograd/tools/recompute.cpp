#include "autograd/tools/recompute.hpp"

#include <algorithm>
#include <utility>

#include "autograd/backward.hpp"
#include "tensor/fail.hpp"

namespace segue {
namespace {

// The same value with no history, so that a graph built on it ends here.
Variable leaf_with_value_of(const Variable& x) {
  return x.needs_gradient() ? parameter(x.value(), x.label()) : Variable(x.value(), x.label());
}

// While one lives, `random` repeats what it gave from the state `from` on; then it is as before.
class Repeat {
 public:
  Repeat(Random* random, const Random& from) : random_(random), before_(random == nullptr ? from : *random) {
    if (random_ != nullptr) *random_ = from;
  }
  ~Repeat() {
    if (random_ != nullptr) *random_ = before_;
  }
  Repeat(const Repeat&) = delete;
  Repeat& operator=(const Repeat&) = delete;

 private:
  Random* random_;
  Random before_;
};

}  // namespace

// z = f(x, y, ..)
struct Recompute : Node {
  std::function<Variable(const std::vector<Variable>&)> f;
  std::size_t arguments = 0;  // the first of the inputs; behind them stand the leaves that f uses beside them
  Random* random = nullptr;
  Random random_before = Random(0);

  void backward(const Tensor& dz) override {
    std::vector<Variable> x;
    for (std::size_t i = 0; i < arguments; ++i) x.push_back(leaf_with_value_of(Variable(inputs[i].node)));
    const Variable z = [&] {
      const Repeat repeat(random, random_before);
      return f(x);
    }();
    segue::backward(z, dz);  // other leaves get their gradients here
    for (std::size_t i = 0; i < arguments; ++i) {
      if (x[i].has_gradient()) accumulate(i, x[i].gradient());
    }
  }
};

Variable recompute(const std::function<Variable(const std::vector<Variable>&)>& f, const std::vector<Variable>& inputs,
                   Random* random, Where where) {
  auto op = make_node<Recompute>();
  op->f = f;
  op->arguments = inputs.size();
  op->random = random;
  if (random != nullptr) op->random_before = *random;

  std::vector<Variable> x;
  for (const Variable& input : inputs) x.push_back(leaf_with_value_of(input));
  const Variable z = f(x);  // its graph ends with this function
  std::vector<Variable> used = inputs;
  for (const std::shared_ptr<Node>& node : topological_order(z)) {
    if (!node->inputs.empty() && node->id < op->id) {
      fail<GraphError>(where, "recompute: the function uses {} '{}' made at {}, which is not among its inputs",
                       node->op, node->label, short_location(node->where));
    }
    const bool argument =
        std::any_of(x.begin(), x.end(), [&](const Variable& known) { return known.shared_node() == node; });
    if (node->inputs.empty() && !argument) used.emplace_back(node);
  }
  return record("recompute", op, z.value(), used, where);
}

}  // namespace segue
