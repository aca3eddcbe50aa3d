// Reverse mode: order the graph, then walk it from the result to the leaves.
#pragma once

#include "autograd/variable.hpp"

namespace segue {

enum class Graph { release, keep };

/// Fills the gradients of all leaves that `loss`, a variable with one element, depends on.
/// Gradients add up over calls until they are cleared. The graph is released on the way, node by
/// node, unless it is to be kept for another backward. Throws ShapeError for several elements;
/// GraphError for a released graph, for a value changed in place since it was used, and under a
/// FiniteGradientGuard for the first gradient that is not finite.
void backward(const Variable& loss, Graph graph = Graph::release, Where where = Where::current());
/// The same for any shape, from the gradient dz of z.
void backward(const Variable& z, const Tensor& dz, Graph graph = Graph::release,
              Where where = Where::current());

/// Every node that z depends on through gradients and z itself, inputs before their users.
Nodes topological_order(const Variable& z);

/// While one lives, backward on this thread stops at the first NaN or infinity and names the op and
/// its source line.
class FiniteGradientGuard {
 public:
  FiniteGradientGuard();
  ~FiniteGradientGuard();
  FiniteGradientGuard(const FiniteGradientGuard&) = delete;
  FiniteGradientGuard& operator=(const FiniteGradientGuard&) = delete;

 private:
  bool before_;
};

}  // namespace segue
