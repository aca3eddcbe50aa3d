// The learning rate of the first Transformer: what warm_up_cosine can be compared with.
#pragma once

#include "tensor/error.hpp"
#include "tensor/real.hpp"

namespace segue {

/// Linear rise over `warm_up` steps, then peak sqrt(warm_up / step) (Vaswani et al. 2017,
/// section 5.3). Throws ValueError unless step >= 1 and warm_up >= 1.
Real warm_up_inverse_sqrt(Index step, Index warm_up, Real peak, Where where = Where::current());

}  // namespace segue
