#include "autograd/backward.hpp"

#include <atomic>
#include <utility>

#include "tensor/elementwise.hpp"
#include "tensor/fail.hpp"

namespace segue {
namespace {

std::atomic<std::uint64_t> visits = 0;
thread_local bool stop_at_non_finite = false;

std::string describe(const Node& node) {
  const std::string name = node.label.empty() ? "" : fmt::format(" '{}'", node.label);
  return fmt::format("{}{} made at {}", node.op, name, short_location(node.where));
}

void check_usable(const Node& node, Where where) {
  if (node.released) {
    fail<GraphError>(where,
                     "backward has already released {}; pass Graph::keep to the first backward",
                     describe(node));
  }
  for (const Saved* kept = node.saved; kept != nullptr; kept = kept->next) {
    if (kept->unchanged()) continue;
    fail<GraphError>(where,
                     "a tensor that {} keeps for backward was changed in place after its use",
                     describe(node));
  }
}

void check_finite(const Node& node, Where where) {
  for (const std::shared_ptr<Node>& input : node.inputs) {
    if (input->has_gradient && !all_finite(input->gradient)) {
      fail<GraphError>(where, "backward of {} gave {} a gradient that is not finite",
                       describe(node), describe(*input));
    }
  }
}

bool is_leaf(const Node& node) { return node.inputs.empty(); }

// Lets go what only a backward needs. Leaves keep their gradients.
void release(Node& node, Graph graph) {
  if (is_leaf(node)) return;
  if (!node.keeps_gradient) node.clear_gradient();
  if (graph == Graph::release) {
    node.inputs.clear();
    node.released = true;
  }
}

void walk(Nodes order, Graph graph, Where where) {
  while (!order.empty()) {
    const std::shared_ptr<Node> node = std::move(order.back());
    order.pop_back();
    if (node->has_gradient && !is_leaf(*node)) {
      node->backward(node->gradient);
      if (stop_at_non_finite) check_finite(*node, where);
    }
    release(*node, graph);
  }
}

}  // namespace

Nodes topological_order(const Variable& z) {
  struct Step {
    const std::shared_ptr<Node>* node;  // the handle its user holds
    std::size_t next_input;
  };
  const std::uint64_t visit = ++visits;
  Nodes order;
  std::vector<Step, BlockAllocator<Step>> path;
  const auto enter = [&](const std::shared_ptr<Node>& node) {
    if (node->visit == visit || !node->needs_gradient) return;
    node->visit = visit;
    path.push_back({&node, 0});
  };
  enter(z.shared_node());
  while (!path.empty()) {
    Step& step = path.back();
    Node& node = **step.node;
    if (step.next_input < node.inputs.size()) {
      enter(node.inputs[step.next_input++]);
    } else {
      order.push_back(*step.node);
      path.pop_back();
    }
  }
  return order;
}

void backward(const Variable& loss, Graph graph, Where where) {
  if (loss.value().size() != 1) {
    fail<ShapeError>(
        where, "backward starts from one number, not from shape {}; pass its gradient as well",
        loss.shape());
  }
  backward(loss, Tensor::full(loss.shape(), 1), graph, where);
}

void backward(const Variable& z, const Tensor& dz, Graph graph, Where where) {
  if (!(dz.shape() == z.shape()))
    fail<ShapeError>(where, "a gradient of shape {} for shape {}", dz.shape(), z.shape());
  if (!z.needs_gradient()) fail<GraphError>(where, "no parameter leads to {}", describe(z.node()));
  Nodes order = topological_order(z);
  for (const auto& node : order) check_usable(*node, where);
  // Whatever an interrupted or kept walk left in inner nodes must not be added to.
  for (const auto& node : order) {
    if (node->has_gradient && !is_leaf(*node)) node->clear_gradient();
  }
  Node& root = *z.shared_node();
  root.gradient = root.has_gradient ? add(root.gradient, dz) : is_leaf(root) ? dz.clone() : dz;
  root.has_gradient = true;
  walk(std::move(order), graph, where);
}

FiniteGradientGuard::FiniteGradientGuard() : before_(std::exchange(stop_at_non_finite, true)) {}
FiniteGradientGuard::~FiniteGradientGuard() { stop_at_non_finite = before_; }

}  // namespace segue
