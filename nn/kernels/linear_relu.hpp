// The inner half of a feed-forward layer in one op.
#pragma once

#include "autograd/variable.hpp"

namespace segue {

/// relu(x w + b) for x [.., n, inputs], w [inputs, outputs] and b [outputs] -> [.., n, outputs]. In
/// the portable build value and gradients have the bits of the three single ops. Throws ShapeError.
Variable linear_relu(const Variable& x, const Variable& w, const Variable& b,
                     Where where = Where::current());

}  // namespace segue
