#include "autograd/variable.hpp"

#include <atomic>
#include <utility>

#include "tensor/elementwise.hpp"
#include "tensor/fail.hpp"

namespace segue {
namespace {

std::atomic<std::uint64_t> made_nodes = 0;
std::atomic<std::uint64_t> destroyed_nodes = 0;
thread_local bool recording = true;

}  // namespace

Node::Node() : id(++made_nodes) {}

// Destroying a node destroys inputs that nobody else holds, and theirs. A list instead of recursion
// keeps the stack small however long the chain is.
Node::~Node() {
  ++destroyed_nodes;
  if (inputs.empty()) return;
  std::vector<Input, BlockAllocator<Input>> pending;
  for (Input& input : inputs) pending.push_back(std::move(input));
  while (!pending.empty()) {
    const Input last = std::move(pending.back());
    pending.pop_back();
    if (last.node.use_count() != 1) continue;
    for (Input& input : last.node->inputs) pending.push_back(std::move(input));
    last.node->inputs = {};
  }
}

void Node::backward(const Tensor&) {}

void Node::accumulate(std::size_t i, Tensor contribution) {
  Node& input = *inputs[i].node;
  if (!input.needs_gradient) return;
  if (!(contribution.shape() == input.value.shape())) {
    fail<GraphError>(where, "backward of {}: gradient {} for input {} of shape {}", op,
                     contribution.shape(), i, input.value.shape());
  }
  if (!input.has_gradient) {
    input.gradient = std::move(contribution);
    input.has_gradient = true;
  } else if (input.gradient.owns_storage_alone() && input.gradient.is_contiguous()) {
    add_in_place(input.gradient, contribution);
  } else {
    input.gradient =
        add(input.gradient, contribution);  // the first contribution is shared or a broadcast view
  }
}

Variable::Variable(const Tensor& value, std::string label, Where where) : node_(make_node<Node>()) {
  node_->value = value;
  node_->label = std::move(label);
  node_->where = where;
}

const Tensor& Variable::gradient(Where where) const {
  if (!has_gradient())
    fail<GraphError>(where, "no gradient has reached {} '{}'", node_->op, label());
  return node_->gradient;
}

void Node::clear_gradient() {
  gradient = Tensor();
  has_gradient = false;
}

void Variable::set_gradient(const Tensor& gradient, Where where) {
  if (!(gradient.shape() == shape())) {
    fail<ShapeError>(where, "a gradient of shape {} for '{}' of shape {}", gradient.shape(),
                     label(), shape());
  }
  node_->gradient = gradient;
  node_->has_gradient = true;
}

void Variable::set_value(const Tensor& value, Where where) {
  if (!node_->inputs.empty() || node_->released) {
    fail<GraphError>(where, "only a leaf can be given a value, this is the result of {}",
                     node_->op);
  }
  if (!(value.shape() == shape())) {
    fail<ShapeError>(where, "a value of shape {} for '{}' of shape {}", value.shape(), label(),
                     shape());
  }
  node_->value = value;
}

Variable parameter(const Tensor& value, std::string label, Where where) {
  Variable variable(value, std::move(label), where);
  variable.shared_node()->op = "parameter";
  variable.shared_node()->needs_gradient = true;
  return variable;
}

Variable record(const char* op, std::shared_ptr<Node> node, Tensor value,
                std::span<const VariableRef> inputs, Where where) {
  bool needed = false;
  for (const Variable& input : inputs) needed = needed || input.needs_gradient();
  if (!needed || !recording) node = make_node<Node>();
  node->op = op;
  node->value = std::move(value);
  node->where = where;
  if (!needed || !recording) return Variable(std::move(node));
  node->needs_gradient = true;
  const bool are_few = inputs.size() <= node->few.size();
  if (!are_few) node->many.resize(inputs.size());
  node->inputs = {are_few ? node->few.data() : node->many.data(), inputs.size()};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Variable& x = inputs[i];
    node->inputs[i] = {x.shared_node(), x.value().storage(), x.value().storage()->version};
  }
  return Variable(std::move(node));
}

NoGradientGuard::NoGradientGuard() : before_(std::exchange(recording, false)) {}
NoGradientGuard::~NoGradientGuard() { recording = before_; }

std::int64_t live_node_count() { return static_cast<std::int64_t>(made_nodes - destroyed_nodes); }

}  // namespace segue
