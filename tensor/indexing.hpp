// Looking elements up by index, and joining tensors end to end.
#pragma once

#include <vector>

#include "tensor/tensor.hpp"
#include "tensor/tokens.hpp"

namespace segue {

/// Slices of x along `axis` picked by `indices` of any shape: with axis 0, [V, D] and [B, T] give
/// [B, T, D]. Throws RangeError naming the first index outside the axis.
Tensor gather(const Tensor& x, const Tokens& indices, int axis = 0, Where where = Where::current());

/// The adjoint of gather: a tensor of `shape`, zero but for the slices named by `indices`, to which
/// those of dz are added in order, repeated ones more than once.
Tensor scatter_add(const Tensor& dz, const Shape& shape, const Tokens& indices, int axis = 0,
                   Where where = Where::current());

/// The parts one after the other along `axis`; all other lengths must agree. Throws ShapeError.
Tensor concat(const std::vector<Tensor>& parts, int axis, Where where = Where::current());

}  // namespace segue
