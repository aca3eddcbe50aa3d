#include "autograd/stop_gradient.hpp"

namespace segue {

Variable stop_gradient(const Variable& x, Where where) {
  // Not recorded: a node without inputs is a leaf, and no walk passes a leaf.
  auto node = make_node<Node>();
  node->op = "stop_gradient";
  node->value = x.value();
  node->label = x.label().empty() ? x.node().op : x.label();
  node->cut = x.node().id;
  node->where = where;
  return Variable(std::move(node));
}

}  // namespace segue
