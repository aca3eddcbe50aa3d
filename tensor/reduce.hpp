// Sums over any axes.
#pragma once

#include "tensor/tensor.hpp"

namespace segue {

/// Sum over the named axes; `keep` leaves them in the shape with length 1. An empty sum is 0.
/// Throws RangeError.
Tensor sum(const Tensor& x, const Axes& axes, bool keep = false, Where where = Where::current());
/// Sum of all elements, rank 0.
Tensor sum(const Tensor& x);

/// Sums x over the axes along which `shape` was broadcast to x's shape: what broadcasting does,
/// undone for gradients.
Tensor sum_to(Tensor x, const Shape& shape, Where where = Where::current());

/// The shape of x with the named axes of length 1.
Shape kept_shape(const Shape& shape, const Axes& axes, Where where = Where::current());

}  // namespace segue
