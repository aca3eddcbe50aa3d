#include "xl/sinusoids.hpp"

#include <algorithm>

#include "tensor/fail.hpp"
#include "tensor/kernels/math.hpp"

namespace segue {

Tensor sinusoids(const std::vector<Index>& positions, Index D, Where where) {
  if (D <= 0 || D % 2 != 0)
    fail<ValueError>(where, "sinusoids: the width must be even and above 0, got {}", D);
  Tensor R = Tensor::uninitialized({static_cast<Index>(positions.size()), D}, where);
  Real* row = R.data_in_place();
  std::vector<double> frequencies;
  for (Index i = 0; i < D / 2; ++i) {
    frequencies.push_back(
        math::exp(-math::log(10000.0) * static_cast<double>(2 * i) / static_cast<double>(D)));
  }
  for (const Index position : positions) {
    for (Index i = 0; i < D / 2; ++i) {
      const double angle = static_cast<double>(position) * frequencies[static_cast<std::size_t>(i)];
      row[i] = static_cast<Real>(math::sin(angle));
      row[D / 2 + i] = static_cast<Real>(math::cos(angle));
    }
    row += D;
  }
  return R;
}

Tensor distance_sinusoids(Index K, Index clamp_length, Index D, Where where) {
  std::vector<Index> distances;
  for (Index distance = K - 1; distance >= 0; --distance) {
    distances.push_back(clamp_length > 0 ? std::min(distance, clamp_length) : distance);
  }
  return sinusoids(distances, D, where);
}

}  // namespace segue
