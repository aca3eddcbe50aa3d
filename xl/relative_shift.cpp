#include "xl/relative_shift.hpp"

#include "autograd/shaping.hpp"
#include "tensor/fail.hpp"

namespace segue {
namespace {

void check_scores(const Shape& shape, Where where) {
  const int rank = shape.rank();
  if (rank < 2 || shape[rank - 2] > shape[rank - 1]) {
    fail<ShapeError>(where, "relative_shift: needs [.., T, K] with T <= K, got {}", shape);
  }
}

}  // namespace

Variable relative_shift(const Variable& x, Where where) {
  check_scores(x.shape(), where);
  const Index T = x.dim(-2), K = x.dim(-1);
  Shape column = x.shape(), padded = x.shape();
  column[column.rank() - 1] = 1;
  padded[padded.rank() - 2] = K + 1;
  padded[padded.rank() - 1] = T;
  const Variable zeros(Tensor::zeros(column));
  const Variable rows =
      reshape(concat({zeros, x}, -1, where), padded, where);  // [.., T, K + 1] -> [.., K + 1, T]
  return reshape(narrow(rows, -2, 1, K, where), x.shape(), where);  // [.., K, T] -> [.., T, K]
}

Tensor relative_shift_by_index(const Tensor& x, Where where) {
  check_scores(x.shape(), where);
  if (x.size() == 0) return Tensor::zeros(x.shape());
  const Index T = x.dim(-2), K = x.dim(-1);
  const Tensor rows = x.reshape({-1, T, K});
  Tensor z = Tensor::zeros(rows.shape());
  for (Index b = 0; b < rows.dim(0); ++b) {
    for (Index i = 0; i < T; ++i) {
      for (Index j = 0; j <= (K - T) + i; ++j)
        z.set_in_place({b, i, j}, rows.at({b, i, j + (T - 1 - i)}));
    }
  }
  return z.reshape(x.shape());
}

}  // namespace segue
