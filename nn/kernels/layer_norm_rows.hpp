// Layer norm, row by row.
#pragma once

#include "tensor/tensor.hpp"

namespace segue {

/// z = gain (x - mean) r + bias for contiguous x [.., D], gain and bias [D]. Fills mean and r [..,
/// 1] with those of each row, r = 1 / sqrt(variance + layer_norm_epsilon).
Tensor layer_norm_rows(const Tensor& x, const Tensor& gain, const Tensor& bias, Tensor& mean,
                       Tensor& r);

/// dx, and of each row its part of dgain, for dz [.., D]: both [.., D].
struct LayerNormGradients {
  Tensor dx, dgain;
};
LayerNormGradients layer_norm_rows_backward(const Tensor& dz, const Tensor& x, const Tensor& gain,
                                            const Tensor& mean, const Tensor& r);

}  // namespace segue
