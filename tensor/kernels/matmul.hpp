// Products of stacks of matrices on several threads.
#pragma once

#include "tensor/tensor.hpp"

namespace segue {

/// z = x y for z [.., i, j], x [.., i, p] and y [.., p, j] of any strides, all of one rank and with
/// equal leading axes; no length is zero. The bits are those of three loops with p innermost.
void multiply_all(Tensor& z, const Tensor& x, const Tensor& y);

}  // namespace segue
