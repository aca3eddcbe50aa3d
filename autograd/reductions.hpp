// Sums and means over any axes.
#pragma once

#include "autograd/variable.hpp"

namespace segue {

/// Over the named axes; `keep` leaves them in the shape with length 1. The gradient spreads evenly
/// back.
Variable sum(const Variable& x, const Axes& axes, bool keep = false,
             Where where = Where::current());
Variable mean(const Variable& x, const Axes& axes, bool keep = false,
              Where where = Where::current());

/// Over all elements, rank 0. The mean of nothing is NaN.
Variable sum(const Variable& x, Where where = Where::current());
Variable mean(const Variable& x, Where where = Where::current());

}  // namespace segue
