// Elements taken out: by a mask, or at random.
#pragma once

#include "autograd/variable.hpp"
#include "tensor/random.hpp"

namespace segue {

/// x where mask is 0, `value` where it is not. The mask broadcasts to x. The gradient of a masked
/// element is 0. An op further back whose slope is infinite there makes NaN of it, as 1 / x does at
/// x = 0: to be safe, mask the input of such an op, not its result.
Variable masked_fill(const Variable& x, const Tensor& mask, Real value,
                     Where where = Where::current());

/// Multiplies each element by 0 with probability `rate` and by 1 / (1 - rate) otherwise, so that
/// the expected value stays (Srivastava et al. 2014). Throws ValueError unless 0 <= rate < 1.
Variable dropout(const Variable& x, Real rate, Random& random, Where where = Where::current());

}  // namespace segue
