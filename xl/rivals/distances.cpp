#include "xl/rivals/distances.hpp"

#include <algorithm>

#include "autograd/shaping.hpp"
#include "tensor/fail.hpp"

namespace segue {

Tokens clipped_distances(Index K, Index rows) {
  Tokens distances({K});
  for (Index c = 0; c < K; ++c) distances[c] = std::min(K - 1 - c, rows - 1);
  return distances;
}

Variable weights_by_distance(const Variable& x, Where where) {
  if (x.shape().rank() != 4 || x.dim(2) > x.dim(3)) {
    fail<ShapeError>(where, "weights_by_distance: needs [B, H, T, K] with T <= K, got {}",
                     x.shape());
  }
  const Index B = x.dim(0), H = x.dim(1), T = x.dim(2), K = x.dim(3);
  const Variable zeros(Tensor::zeros({B, H, T}));
  const Variable padded =
      concat({zeros, reshape(x, {B, H, T * K}, where)}, 2, where);          // [B, H, T + T K]
  return narrow(reshape(padded, {B, H, T, K + 1}, where), 3, 1, K, where);  // [B, H, T, K]
}

}  // namespace segue
