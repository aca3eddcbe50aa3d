// The product of matrices, or of stacks of matrices: the operation a model spends most of its time
// in.
#pragma once

#include "tensor/tensor.hpp"

namespace segue {

/// z[..., i, j] = sum over p of x[..., i, p] * y[..., p, j]; the leading axes broadcast. Any
/// strides: a transposed view costs no copy. Each element is summed over p = 0, 1, 2, .. in this
/// order, so its bits depend neither on the number of threads nor on the width of vectors. Throws
/// ShapeError unless both ranks are at least 2 and the shapes fit.
Tensor matmul(const Tensor& x, const Tensor& y, Where where = Where::current());

/// The definition, in three loops: what matmul is compared with.
Tensor matmul_plain(const Tensor& x, const Tensor& y, Where where = Where::current());

}  // namespace segue
