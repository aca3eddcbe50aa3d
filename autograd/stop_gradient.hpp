// The wall: values pass it, gradients do not.
#pragma once

#include "autograd/variable.hpp"

namespace segue {

/// z = x with nothing behind it. The node does not own x, so the graph that made x is free to go;
/// it carries x's label, or the name of its op, to tell what was cut.
Variable stop_gradient(const Variable& x, Where where = Where::current());

}  // namespace segue
