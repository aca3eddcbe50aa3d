#include "nn/schedule.hpp"

#include <cmath>
#include <numbers>

#include "tensor/fail.hpp"
#include "tensor/kernels/math.hpp"

namespace segue {

Real warm_up_cosine(Index step, Index warm_up, Index total, Real peak, Real floor, Where where) {
  if (step < 1 || warm_up < 0 || warm_up > total) {
    fail<ValueError>(where,
                     "schedule: step {} counts from 1, and warm-up {} lies within the total {}",
                     step, warm_up, total);
  }
  if (step <= warm_up) return peak * (static_cast<Real>(step) / static_cast<Real>(warm_up));
  if (step >= total) return floor;
  const double done = static_cast<double>(step - warm_up) / static_cast<double>(total - warm_up);
  return floor + (peak - floor) * static_cast<Real>(0.5 * (1 + math::cos(std::numbers::pi * done)));
}

}  // namespace segue
