#include "tensor/softmax.hpp"

#include <limits>

#include "tensor/fail.hpp"
#include "tensor/kernels/math.hpp"
#include "tensor/kernels/rows.hpp"
#include "tensor/map.hpp"

namespace segue {
namespace {

void softmax_row(Real* z, const Real* x, const Real*, Index n) {
  const auto score = [x](Index i) { return x[i]; };
  const auto exponential = [z](Index i) { return z[i]; };
  const Real largest = fold_row(n, -std::numeric_limits<Real>::infinity(), score, LargerNumber());
  for (Index i = 0; i < n; ++i) z[i] = math::exp(x[i] - largest);
  const Real scale = 1 / fold_row(n, Real(0), exponential, Plus());
  for (Index i = 0; i < n; ++i) z[i] *= scale;
}

void softmax_backward_row(Real* dx, const Real* z, const Real* dz, Index n) {
  const auto product = [z, dz](Index i) { return z[i] * dz[i]; };
  const Real dot = fold_row(n, Real(0), product, Plus());
  for (Index i = 0; i < n; ++i) dx[i] = z[i] * (dz[i] - dot);
}

// Applies row(out, x, y, n) to every row along `axis`, which is brought to the end and back.
template <class Row>
Tensor by_rows(const Tensor& x, const Tensor& y, int axis, Where where, const Row& row) {
  const int a = normalize_axis(axis, x.rank(), where);
  if (!(x.shape() == y.shape()))
    fail<ShapeError>(where, "softmax: shapes {} and {} differ", x.shape(), y.shape());
  const Tensor in_x = x.transpose(a, -1, where).contiguous();
  const Tensor in_y = y.transpose(a, -1, where).contiguous();
  Tensor z = Tensor::uninitialized(in_x.shape());
  if (z.size() == 0) return z.transpose(a, -1);
  const Index n = x.rank() == 0 ? 1 : in_x.dim(-1);
  Real* const out = z.data_in_place();
  parallel_for(z.size() / n, elements_per_thread / (8 * n) + 1, [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      row(out + r * n, in_x.data() + r * n, in_y.data() + r * n, n);
  });
  return z.transpose(a, -1);
}

}  // namespace

Tensor softmax(const Tensor& x, int axis, Where where) {
  return by_rows(x, x, axis, where, softmax_row);
}

Tensor softmax_backward(const Tensor& z, const Tensor& dz, int axis, Where where) {
  return by_rows(z, dz, axis, where, softmax_backward_row);
}

}  // namespace segue
