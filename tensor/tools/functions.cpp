#include "tensor/tools/functions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/elementwise.hpp"
#include "tensor/fail.hpp"
#include "tensor/kernels/rows.hpp"
#include "tensor/map.hpp"
#include "tensor/reduce.hpp"
#include "tensor/tools/math.hpp"

namespace segue {

Tensor relu(const Tensor& x) {
  return map(x, [](Real a) { return a < 0 ? Real(0) : a; });
}
Tensor sqrt(const Tensor& x) {
  return map(x, [](Real a) { return std::sqrt(a); });
}
Tensor exp(const Tensor& x) {
  return map(x, [](Real a) { return math::exp(a); });
}
Tensor log(const Tensor& x) {
  return map(x, [](Real a) { return math::log(a); });
}
Tensor tanh(const Tensor& x) {
  return map(x, [](Real a) { return math::tanh(a); });
}
Tensor sigmoid(const Tensor& x) {
  return map(x, [](Real a) { return math::sigmoid(a); });
}
Tensor pow(const Tensor& x, const Tensor& y, Where where) {
  return map("pow", x, y, where, [](Real a, Real b) { return math::pow(a, b); });
}

namespace {

// The largest elements along one axis, which then has length 1.
Tensor max_along(const Tensor& x, int axis) {
  const Tensor rows = x.transpose(axis, -1).contiguous();
  const Index n = rows.dim(-1);
  Shape shape = rows.shape();
  shape[shape.rank() - 1] = 1;
  Tensor z = Tensor::uninitialized(shape);
  Real* const out = z.data_in_place();
  parallel_for(z.size(), elements_per_thread / std::max<Index>(n, 1) + 1,
               [&](Index begin, Index end) {
                 for (Index r = begin; r < end; ++r) {
                   const auto get = [row = rows.data() + r * n](Index i) { return row[i]; };
                   const auto larger = [](Real a, Real b) {
                     return b > a || b != b ? b : a;
                   };  // NaN if either is NaN
                   out[r] = fold_row(n, -std::numeric_limits<Real>::infinity(), get, larger);
                 }
               });
  return z.transpose(axis, -1);
}

}  // namespace

Tensor max(const Tensor& x, const Axes& axes, bool keep, Where where) {
  const Axes reduced = normalize_axes(axes, x.rank(), where);
  if (x.size() == 0 && kept_shape(x.shape(), axes, where).size() > 0) {
    fail<ShapeError>(where, "max: no elements along an axis of {}", x.shape());
  }
  if (x.rank() == 0 || reduced.size() == 0) return x.clone();
  Tensor z = x;
  for (const int axis : reduced) z = max_along(z, axis);
  if (keep) return z;
  Shape shape;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (!reduced.contains(axis)) shape.push_back(x.shape()[axis]);
  }
  return z.reshape(shape, where);
}

Tensor log_softmax(const Tensor& x, int axis, Where where) {
  const Axes axes = {normalize_axis(axis, x.rank(), where)};
  if (x.size() == 0) return x.clone();
  const Tensor below =
      sub(x, max(x, axes, true));  // small once the largest is gone: no digits are lost
  return sub(below, log(sum(exp(below), axes, true)));
}

Tensor log_softmax_backward(const Tensor& z, const Tensor& dz, int axis, Where where) {
  const Axes axes = {normalize_axis(axis, z.rank(), where)};
  if (!(z.shape() == dz.shape())) {
    fail<ShapeError>(where, "log_softmax: shapes {} and {} differ", z.shape(), dz.shape());
  }
  return sub(dz, mul(exp(z), sum(dz, axes, true)));
}

}  // namespace segue
