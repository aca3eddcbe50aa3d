#include "nn/tools/inverse_sqrt.hpp"

#include <cmath>

#include "tensor/fail.hpp"

namespace segue {

Real warm_up_inverse_sqrt(Index step, Index warm_up, Real peak, Where where) {
  if (step < 1 || warm_up < 1) {
    fail<ValueError>(where, "schedule: step {} and warm-up {} must both be at least 1", step,
                     warm_up);
  }
  const Real ratio = static_cast<Real>(step) / static_cast<Real>(warm_up);
  return step <= warm_up ? peak * ratio : peak / std::sqrt(ratio);
}

}  // namespace segue
