// Functions of one variable, element by element.
#pragma once

#include "autograd/variable.hpp"

namespace segue {

Variable sqrt(const Variable& x, Where where = Where::current());
/// max(x, 0), with slope 0 at 0.
Variable relu(const Variable& x, Where where = Where::current());
/// relu(x + b) in one op; x is [.., n] and b [n]. An x that nobody else holds, such as the result of a product that is
/// handed over at once, is overwritten: so no second tensor of its size is needed. Throws ShapeError.
Variable add_relu(Variable x, const Variable& b, Where where = Where::current());

}  // namespace segue
