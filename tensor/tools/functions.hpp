// Functions that other models need; the paper's does without them.
#pragma once

#include "tensor/tensor.hpp"

namespace segue {

/// max(x, 0); NaN stays NaN.
Tensor relu(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);
/// x^y with 0^0 = 1; a negative base with a fractional exponent gives NaN.
Tensor pow(const Tensor& x, const Tensor& y, Where where = Where::current());

/// Largest element over the named axes; NaN where one is NaN. Throws ShapeError when there is
/// nothing to compare.
Tensor max(const Tensor& x, const Axes& axes, bool keep = false, Where where = Where::current());

/// x_i - log sum_j exp(x_j) along `axis`.
Tensor log_softmax(const Tensor& x, int axis = -1, Where where = Where::current());
/// Gradient of z = log_softmax(x): dx_i = dz_i - exp(z_i) sum_j dz_j.
Tensor log_softmax_backward(const Tensor& z, const Tensor& dz, int axis,
                            Where where = Where::current());

}  // namespace segue
