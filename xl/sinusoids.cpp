#include "xl/sinusoids.hpp"

#include <algorithm>
#include <optional>

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

// They depend on these three numbers alone, and nearly every call asks for what the last one asked
// for.
struct LastSinusoids {
  Index K = -1, clamp_length = 0, D = 0;
  std::optional<Tensor> R;
  std::uint64_t version = 0;  // of its storage: nobody has written into it since
};
thread_local LastSinusoids last_sinusoids;

Tensor distance_sinusoids(Index K, Index clamp_length, Index D, Where where) {
  const bool same =
      last_sinusoids.K == K && last_sinusoids.clamp_length == clamp_length && last_sinusoids.D == D;
  if (same && last_sinusoids.R->storage()->version == last_sinusoids.version)
    return *last_sinusoids.R;
  std::vector<Index> distances;
  for (Index distance = K - 1; distance >= 0; --distance) {
    distances.push_back(clamp_length > 0 ? std::min(distance, clamp_length) : distance);
  }
  last_sinusoids = {K, clamp_length, D, sinusoids(distances, D, where)};
  last_sinusoids.version = last_sinusoids.R->storage()->version;
  return *last_sinusoids.R;
}

}  // namespace segue
