#include "xl/tools/relative_shift_gather.hpp"

#include <algorithm>

#include "autograd/shaping.hpp"
#include "tensor/fail.hpp"

namespace segue {

Tokens relative_shift_indices(Index T, Index K, Where where) {
  if (T < 0 || T > K)
    fail<ShapeError>(where, "relative_shift_indices: needs 0 <= T <= K, got T = {}, K = {}", T, K);
  check_shape({T, K}, where);
  Tokens indices({T * K}, where);
  for (Index i = 0; i < T; ++i) {
    for (Index j = 0; j < K; ++j) indices[i * K + j] = i * K + std::min(j + (T - 1 - i), K - 1);
  }
  return indices;
}

Variable relative_shift_by_gather(const Variable& x, const Tokens& indices, Where where) {
  const int rank = x.shape().rank();
  if (rank < 2 || x.dim(-2) > x.dim(-1) || indices.size() != x.dim(-2) * x.dim(-1)) {
    fail<ShapeError>(
        where,
        "relative_shift_by_gather: needs [.., T, K] with T <= K and T K indices, got {} and {}",
        x.shape(), indices.shape);
  }
  Index matrices = 1;
  for (int axis = 0; axis < rank - 2; ++axis) matrices *= x.dim(axis);
  const Variable rows = reshape(x, {matrices, indices.size()}, where);  // [.., T, K] -> [.., T K]
  return reshape(gather(rows, indices, 1, where), x.shape(), where);    // [.., T K] -> [.., T, K]
}

}  // namespace segue
