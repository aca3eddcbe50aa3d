#include "tensor/reduce.hpp"

#include <algorithm>

#include "tensor/fail.hpp"
#include "tensor/kernels/rows.hpp"
#include "tensor/map.hpp"

namespace segue {
namespace {

constexpr Index rows_per_block =
    256;  // summed on their own first, which keeps the rounding error of long sums small

// z[k] = x[0, k] + x[1, k] + .., for x [rows, n] and the columns begin .. end-1.
void add_columns(Real* z, const Real* x, Index rows, Index n, Index begin, Index end) {
  const auto storage = allocate_storage(end - begin);
  Real* const block = storage->data;
  for (Index first = 0; first < rows; first += rows_per_block) {
    std::fill(block, block + (end - begin), Real(0));
    for (Index r = first; r < std::min(rows, first + rows_per_block); ++r) {
      const Real* row = x + r * n + begin;
      for (Index k = 0; k < end - begin; ++k) block[k] += row[k];
    }
    for (Index k = 0; k < end - begin; ++k) z[begin + k] += block[k];
  }
}

}  // namespace

Shape kept_shape(const Shape& shape, const Axes& axes, Where where) {
  Shape kept = shape;
  for (const int axis : normalize_axes(axes, shape.rank(), where)) {
    if (shape.rank() > 0) kept[axis] = 1;
  }
  return kept;
}

Tensor sum(const Tensor& x, const Axes& axes, bool keep, Where where) {
  const Axes reduced = normalize_axes(axes, x.rank(), where);
  if (x.rank() == 0 || reduced.size() == 0) return x.clone();
  Axes order;  // the axes that stay, then those that are summed over
  Shape kept;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (reduced.contains(axis)) continue;
    order.push_back(axis);
    kept.push_back(x.shape()[axis]);
  }
  // When the latter lead already, whole rows are added; else each sum is folded from a row of its
  // own.
  const bool rows_add = order.size() > 0 && order[0] == reduced.size();
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (reduced.contains(axis)) order.push_back(axis);
  }
  const Tensor in = rows_add ? x.contiguous() : x.permute(order, where).contiguous();
  Tensor z = Tensor::zeros(kept, where);
  Real* const out = z.data_in_place();
  const Index results = z.size(), n = results == 0 ? 0 : x.size() / results;
  parallel_for(results, elements_per_thread / std::max<Index>(n, 1) + 1,
               [&](Index begin, Index end) {
                 if (rows_add) return add_columns(out, in.data(), n, results, begin, end);
                 for (Index k = begin; k < end; ++k) {
                   const auto element = [row = in.data() + k * n](Index i) { return row[i]; };
                   out[k] = fold_row(n, Real(0), element, Plus());
                 }
               });
  return keep ? z.reshape(kept_shape(x.shape(), reduced), where) : z;
}

Tensor sum(const Tensor& x) { return sum(x, all_axes(x.rank())); }

Tensor sum_to(Tensor x, const Shape& shape, Where where) {
  if (x.shape() == shape) return x;
  const int added = x.rank() - shape.rank();
  if (added < 0 || !(broadcast_shapes("sum_to", x.shape(), shape, where) == x.shape())) {
    fail<ShapeError>(where, "sum_to: shape {} does not come from broadcasting {}", x.shape(),
                     shape);
  }
  Axes axes;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (axis < added || (shape[axis - added] == 1 && x.shape()[axis] != 1)) axes.push_back(axis);
  }
  return sum(x, axes, false, where).reshape(shape, where);
}

}  // namespace segue
