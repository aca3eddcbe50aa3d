// Variable and Node: a value that remembers how it was made, so that backward can find its way.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "autograd/kernels/inputs.hpp"
#include "tensor/kernels/free_blocks.hpp"
#include "tensor/tensor.hpp"

namespace segue {

struct Node;
class Variable;
using VariableRef = std::reference_wrapper<const Variable>;

/// A tensor that an op keeps for its backward, which must find it as it was. It is a member of the
/// op's struct, `Saved x{this};`, and is filled as a tensor is, `op->x = x.value();`.
struct Saved : Tensor {
  explicit Saved(Node* op);
  Saved(const Saved&) = delete;
  Saved& operator=(const Tensor& value);
  /// True unless its numbers, or others of the same storage, were opened for writing since.
  bool unchanged() const { return storage()->version == version; }

  std::uint64_t version = 0;  // of the storage, when it was kept
  const Saved* next;          // that the same op keeps
};

/// A value in the graph: a leaf (parameter or constant), or the result z of an op. Each op derives
/// a struct of its own with named saved values; a node never owns its users, so no cycle can arise.
struct Node {
  Node();
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// Takes the gradient dz of the result and accumulates dx, dy .. into the inputs. Leaves have
  /// nothing to do.
  virtual void backward(const Tensor& dz);

  /// True when input number `i` needs a gradient.
  bool wants(std::size_t i) const { return inputs[i]->needs_gradient; }
  const Shape& input_shape(std::size_t i) const { return inputs[i]->value.shape(); }
  /// The one place where gradients are added up: checks the shape, throws GraphError.
  void accumulate(std::size_t i, Tensor gradient);
  void clear_gradient();

  Inputs inputs;
  Tensor value;
  Tensor gradient;  // meaningful when has_gradient
  bool needs_gradient = false;
  bool has_gradient = false;
  bool keeps_gradient = false;   // an inner node whose gradient is to survive backward
  bool released = false;         // backward has been here and let the inputs go
  std::uint64_t visit = 0;       // number of the last walk that came by
  const Saved* saved = nullptr;  // the first of the tensors that it keeps
  const char* op = "constant";
  std::string label;                   // a name for people; may be empty
  Where where;                         // the caller's line that made this node
  std::uint64_t id;                    // counts nodes in the order of their making
  std::uint64_t cut = 0;               // of a stop-gradient: the id of the node it cut off
  std::shared_ptr<Node> next_to_free;  // while nodes are torn down
};

using Nodes = std::vector<std::shared_ptr<Node>, BlockAllocator<std::shared_ptr<Node>>>;

/// A node of the kind Op, in a block that an earlier one may have used.
template <class Op>
std::shared_ptr<Op> make_node() {
  return std::allocate_shared_for_overwrite<Op>(BlockAllocator<Op>());
}

/// A handle to a shared Node. Copying one is cheap and refers to the same node.
class Variable {
 public:
  /// A constant without elements.
  Variable() : Variable(Tensor()) {}
  /// A constant: no gradient flows into it.
  explicit Variable(const Tensor& value, std::string label = "", Where where = Where::current());
  explicit Variable(std::shared_ptr<Node> node) : node_(std::move(node)) {}

  const Tensor& value() const { return node_->value; }
  const Shape& shape() const { return node_->value.shape(); }
  Index dim(int axis, Where where = Where::current()) const { return value().dim(axis, where); }
  /// The value of a variable with one element, as a plain number that keeps no graph alive.
  Real item(Where where = Where::current()) const { return value().item(where); }

  bool needs_gradient() const { return node_->needs_gradient; }
  bool has_gradient() const { return node_->has_gradient; }
  /// d loss / d this, summed over all backward calls since `clear_gradient`. Throws GraphError
  /// where there is none.
  const Tensor& gradient(Where where = Where::current()) const;
  void clear_gradient() { node_->clear_gradient(); }
  /// Replaces a gradient of the same shape, as clipping does.
  void set_gradient(Tensor gradient, Where where = Where::current());
  /// Asks backward to leave the gradient of an inner node in place.
  void keep_gradient() { node_->keeps_gradient = true; }

  /// Gives a leaf a new value of the same shape. Throws GraphError for the result of an op,
  /// ShapeError.
  void set_value(const Tensor& value, Where where = Where::current());

  const std::string& label() const { return node_->label; }
  void set_label(std::string label) { node_->label = std::move(label); }
  const Node& node() const { return *node_; }
  const std::shared_ptr<Node>& shared_node() const { return node_; }

 private:
  std::shared_ptr<Node> node_;
};

/// A leaf that gradients flow into.
Variable parameter(const Tensor& value, std::string label = "", Where where = Where::current());

/// The one place where the graph is recorded: gives `op`'s node its value and inputs. When no input
/// needs a gradient, or under a NoGradientGuard, the result is a constant and `node` with its saved
/// values is dropped.
Variable record(const char* op, std::shared_ptr<Node> node, Tensor value,
                std::span<const VariableRef> inputs, Where where);
inline Variable record(const char* op, std::shared_ptr<Node> node, Tensor value,
                       std::initializer_list<VariableRef> inputs, Where where) {
  return record(op, std::move(node), std::move(value), std::span(inputs.begin(), inputs.size()),
                where);
}

/// While one lives, nothing on this thread is recorded.
class NoGradientGuard {
 public:
  NoGradientGuard();
  ~NoGradientGuard();
  NoGradientGuard(const NoGradientGuard&) = delete;
  NoGradientGuard& operator=(const NoGradientGuard&) = delete;

 private:
  bool before_;
};

/// Nodes alive in the whole program.
std::int64_t live_node_count();

}  // namespace segue
