// Softmax along one axis, computed from differences to the largest element so that nothing
// overflows.
#pragma once

#include "tensor/tensor.hpp"

namespace segue {

/// exp(x_i) / sum_j exp(x_j) along `axis`. Elements at -infinity get exactly 0.
Tensor softmax(const Tensor& x, int axis = -1, Where where = Where::current());

/// Gradient of z = softmax(x): dx_i = z_i (dz_i - sum_j z_j dz_j).
Tensor softmax_backward(const Tensor& z, const Tensor& dz, int axis,
                        Where where = Where::current());

}  // namespace segue
