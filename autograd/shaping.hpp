// The same elements in another arrangement: no arithmetic, so each gradient is the arrangement
// undone.
#pragma once

#include "autograd/variable.hpp"
#include "tensor/tokens.hpp"

namespace segue {

/// As the functions of the same name in tensor/tensor.hpp and tensor/indexing.hpp.
Variable reshape(const Variable& x, const Shape& shape, Where where = Where::current());
Variable permute(const Variable& x, const Axes& axes, Where where = Where::current());
Variable transpose(const Variable& x, int axis_a, int axis_b, Where where = Where::current());
Variable narrow(const Variable& x, int axis, Index start, Index length,
                Where where = Where::current());
Variable concat(const std::vector<Variable>& parts, int axis, Where where = Where::current());
/// An index that occurs more than once collects the gradients of all its occurrences.
Variable gather(const Variable& x, const Tokens& indices, int axis = 0,
                Where where = Where::current());

}  // namespace segue
