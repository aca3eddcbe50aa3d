// Functions of one variable, element by element.
#pragma once

#include "autograd/variable.hpp"

namespace segue {

Variable exp(const Variable& x, Where where = Where::current());
Variable log(const Variable& x, Where where = Where::current());
Variable sqrt(const Variable& x, Where where = Where::current());
Variable tanh(const Variable& x, Where where = Where::current());
Variable sigmoid(const Variable& x, Where where = Where::current());
/// max(x, 0), with slope 0 at 0.
Variable relu(const Variable& x, Where where = Where::current());

}  // namespace segue
