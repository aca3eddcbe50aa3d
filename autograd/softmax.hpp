// Softmax and its logarithm.
#pragma once

#include "autograd/variable.hpp"

namespace segue {

/// exp(x_i) / sum_j exp(x_j) along `axis`.
Variable softmax(const Variable& x, int axis = -1, Where where = Where::current());
/// x_i - log sum_j exp(x_j) along `axis`.
Variable log_softmax(const Variable& x, int axis = -1, Where where = Where::current());

}  // namespace segue
