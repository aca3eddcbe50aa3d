// A smoother relu. The paper does without it; later models use it in their feed-forward layers.
#pragma once

#include "autograd/variable.hpp"

namespace segue {

/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))): the tanh form of Hendrycks and Gimpel 2016.
Variable gelu(const Variable& x, Where where = Where::current());

}  // namespace segue
