// The batched matrix product.
#pragma once

#include "autograd/variable.hpp"

namespace segue {

/// z[.., i, j] = sum_p x[.., i, p] y[.., p, j]; leading axes broadcast. Throws ShapeError.
Variable matmul(const Variable& x, const Variable& y, Where where = Where::current());

}  // namespace segue
