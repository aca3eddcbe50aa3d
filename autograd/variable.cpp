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

// Destroying a node destroys inputs that nobody else holds, and theirs. These wait in a list that
// runs through the nodes themselves: a long chain needs neither a deep stack nor memory to die.
Node::~Node() {
  ++destroyed_nodes;
  std::shared_ptr<Node> first;
  const auto enlist_inputs = [&first](Node& node) {
    for (std::shared_ptr<Node>& input : node.inputs) {
      if (input.use_count() != 1) continue;
      input->next_to_free = std::move(first);
      first = std::move(input);
    }
    node.inputs.clear();
  };
  enlist_inputs(*this);
  while (first) {
    const std::shared_ptr<Node> node = std::move(first);
    first = std::move(node->next_to_free);
    enlist_inputs(*node);
  }
}

void Node::backward(const Tensor&) {}

namespace {

// True when what is added to a gradient shows nowhere else.
bool is_own(const Tensor& gradient) {
  return gradient.owns_storage_alone() && gradient.is_contiguous();
}

Tensor owned(Tensor gradient) { return is_own(gradient) ? std::move(gradient) : gradient.clone(); }

}  // namespace

void Node::accumulate(std::size_t i, Tensor contribution) {
  Node& input = *inputs[i];
  if (!input.needs_gradient) return;
  if (!(contribution.shape() == input.value.shape())) {
    fail<GraphError>(where, "backward of {}: gradient {} for input {} of shape {}", op,
                     contribution.shape(), i, input.value.shape());
  }
  if (!input.has_gradient) {
    const bool is_leaf = input.inputs.empty();
    input.gradient = is_leaf ? owned(std::move(contribution)) : std::move(contribution);
    input.has_gradient = true;
  } else if (is_own(input.gradient)) {
    add_in_place(input.gradient, contribution);
  } else {
    input.gradient = add(input.gradient, contribution);  // the first is shared or a broadcast view
  }
}

Saved::Saved(Node* op) : next(std::exchange(op->saved, this)) {}

Saved& Saved::operator=(const Tensor& value) {
  Tensor::operator=(value);
  version = value.storage()->version;
  return *this;
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

void Variable::set_gradient(Tensor gradient, Where where) {
  if (!(gradient.shape() == shape())) {
    fail<ShapeError>(where, "a gradient of shape {} for '{}' of shape {}", gradient.shape(),
                     label(), shape());
  }
  node_->gradient = owned(std::move(gradient));
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
  node->inputs.resize(inputs.size());
  std::shared_ptr<Node>* next = node->inputs.begin();
  for (const Variable& x : inputs) *next++ = x.shared_node();
  return Variable(std::move(node));
}

NoGradientGuard::NoGradientGuard() : before_(std::exchange(recording, false)) {}
NoGradientGuard::~NoGradientGuard() { recording = before_; }

std::int64_t live_node_count() { return static_cast<std::int64_t>(made_nodes - destroyed_nodes); }

}  // namespace segue
