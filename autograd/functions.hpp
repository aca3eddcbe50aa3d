// Functions of one variable, element by element.
#pragma once

#include "autograd/variable.hpp"

namespace segue {

Variable sqrt(const Variable& x, Where where = Where::current());
/// max(x, 0), with slope 0 at 0.
Variable relu(const Variable& x, Where where = Where::current());

}  // namespace segue
