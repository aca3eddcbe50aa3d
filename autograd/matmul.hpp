// The batched matrix product.
#pragma once

#include "autograd/variable.hpp"

namespace segue {

/// z[.., i, j] = sum_p x[.., i, p] y[.., p, j]; leading axes broadcast. Throws ShapeError.
Variable matmul(const Variable& x, const Variable& y, Where where = Where::current());

/// What backward gives the factors of z = x y: dz y^T and x^T dz, summed to the shapes of x and y.
Tensor gradient_of_left_factor(const Tensor& dz, const Tensor& x, const Tensor& y);
Tensor gradient_of_right_factor(const Tensor& dz, const Tensor& x, const Tensor& y);

}  // namespace segue
