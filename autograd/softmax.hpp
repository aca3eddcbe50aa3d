// From numbers to weights that are above 0 and sum to 1.
#pragma once

#include "autograd/variable.hpp"

namespace segue {

/// exp(x_i) / sum_j exp(x_j) along `axis`.
Variable softmax(const Variable& x, int axis = -1, Where where = Where::current());

}  // namespace segue
