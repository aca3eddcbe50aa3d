// A bias and the relu behind it, in one op.
#pragma once

#include "autograd/variable.hpp"

namespace segue {

/// max(x + b, 0), with slope 0 at 0, for x [.., n] and b [n]. An x that nobody else holds, such as
/// a product handed over at once, is overwritten, which saves a second tensor of its size. Throws
/// ShapeError.
Variable add_relu(Variable x, const Variable& b, Where where = Where::current());

}  // namespace segue
