// Learning rates by step. Steps count from 1; the warm-up rises linearly, so step 1 has peak /
// warm_up and never 0.
#pragma once

#include "tensor/error.hpp"
#include "tensor/real.hpp"

namespace segue {

/// Linear rise over `warm_up` steps, then half a cosine from `peak` down to `floor` at step
/// `total`, and `floor` after it; with warm_up = total, step `total` has the peak. A run whose last
/// step is to learn something at a floor of 0 has one step less than `total`. Throws ValueError
/// unless step >= 1 and 0 <= warm_up <= total.
Real warm_up_cosine(Index step, Index warm_up, Index total, Real peak, Real floor = 0,
                    Where where = Where::current());

}  // namespace segue
