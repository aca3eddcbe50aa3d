// The rectifier.
#pragma once

#include "autograd/variable.hpp"

namespace segue {

/// max(x, 0), with slope 0 at 0.
Variable relu(const Variable& x, Where where = Where::current());

}  // namespace segue
