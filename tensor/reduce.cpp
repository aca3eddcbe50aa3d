#include "tensor/reduce.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "tensor/fail.hpp"
#include "tensor/map.hpp"
#include "tensor/rows.hpp"

namespace segue {
namespace {

// Offset of row-major element `number` of a tensor with these lengths and strides.
Index offset_of(Index number, const Shape& shape, const Strides& strides) {
  Index offset = 0;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    offset += (number % shape[axis]) * strides[axis];
    number /= shape[axis];
  }
  return offset;
}

// The axes of x, sorted into those that stay and those that are reduced.
struct Split {
  Shape kept, reduced;
  Strides kept_strides, reduced_strides;
};

Split split_axes(const Tensor& x, const Axes& axes) {
  Split split;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const bool reduced = std::find(axes.begin(), axes.end(), axis) != axes.end();
    (reduced ? split.reduced : split.kept).push_back(x.shape()[axis]);
    (reduced ? split.reduced_strides : split.kept_strides).push_back(x.strides()[axis]);
  }
  return split;
}

// The last axis of x is reduced: every result is made of whole rows, each folded in lanes.
template <class Combine>
void fold_rows(Real* out, const Real* in, Split split, Real identity, const Combine& combine) {
  const int last = split.reduced.rank() - 1;
  const Index n = split.reduced[last], step = split.reduced_strides[last];
  split.reduced[last] = 1;
  const Index rows = split.reduced.size();
  parallel_for(split.kept.size(), elements_per_thread / std::max<Index>(n * rows, 1) + 1, [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) {
      const Real* x = in + offset_of(k, split.kept, split.kept_strides);
      Real result = identity;
      for (Index r = 0; r < rows; ++r) {
        const Real* row = x + offset_of(r, split.reduced, split.reduced_strides);
        const Real folded = step == 1 ? fold_row(n, identity, [row](Index i) { return row[i]; }, combine)
                                      : fold_row(n, identity, [&](Index i) { return row[i * step]; }, combine);
        result = combine(result, folded);
      }
      out[k] = result;
    }
  });
}

// The last axis of x stays: whole rows are combined element by element, in index order.
template <class Combine>
void combine_rows(Real* out, const Real* in, const Split& split, const Combine& combine) {
  const int last = split.kept.rank() - 1;
  const Index n = split.kept[last], step = split.kept_strides[last];
  const Index rows = split.reduced.size();
  parallel_for(split.kept.size(), elements_per_thread / std::max<Index>(rows, 1) + 1, [&](Index begin, Index end) {
    for (Index k = begin; k < end;) {
      const Index count = std::min(n - k % n, end - k);
      const Real* x = in + offset_of(k, split.kept, split.kept_strides);
      Real* z = out + k;
      for (Index r = 0; r < rows; ++r) {
        const Real* row = x + offset_of(r, split.reduced, split.reduced_strides);
        if (step == 1) {
          for (Index i = 0; i < count; ++i) z[i] = combine(z[i], row[i]);
        } else {
          for (Index i = 0; i < count; ++i) z[i] = combine(z[i], row[i * step]);
        }
      }
      k += count;
    }
  });
}

template <class Combine>
Tensor reduce(const Tensor& x, const Axes& named_axes, bool keep, Real identity, const Combine& combine, Where where) {
  const Axes axes = normalize_axes(named_axes, x.rank(), where);
  if (x.rank() == 0 || axes.empty()) return x;
  const Split split = split_axes(x, axes);
  Tensor z = Tensor::full(split.kept, identity, where);
  const bool last_is_reduced = std::find(axes.begin(), axes.end(), x.rank() - 1) != axes.end();
  if (last_is_reduced) {
    fold_rows(z.data_in_place(), x.data(), split, identity, combine);
  } else {
    combine_rows(z.data_in_place(), x.data(), split, combine);
  }
  return keep ? z.reshape(kept_shape(x.shape(), axes), where) : z;
}

}  // namespace

Shape kept_shape(const Shape& shape, const Axes& axes, Where where) {
  Shape kept = shape;
  for (const int axis : normalize_axes(axes, shape.rank(), where)) {
    if (shape.rank() > 0) kept[axis] = 1;
  }
  return kept;
}

Index reduced_count(const Shape& shape, const Axes& axes, Where where) {
  Index count = 1;
  for (const int axis : normalize_axes(axes, shape.rank(), where)) {
    if (shape.rank() > 0) count *= shape[axis];
  }
  return count;
}

Axes all_axes(const Tensor& x) {
  Axes axes(static_cast<std::size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Tensor sum(const Tensor& x, const Axes& axes, bool keep, Where where) {
  return reduce(x, axes, keep, 0, Plus(), where);
}

Tensor sum(const Tensor& x) { return sum(x, all_axes(x)); }

Tensor max(const Tensor& x, const Axes& axes, bool keep, Where where) {
  if (reduced_count(x.shape(), axes, where) == 0) fail<ShapeError>(where, "max: no elements along an axis of {}", x.shape());
  return reduce(x, axes, keep, -std::numeric_limits<Real>::infinity(), Larger(), where);
}

Tensor sum_to(const Tensor& x, const Shape& shape, Where where) {
  if (x.shape() == shape) return x;
  const int added = x.rank() - shape.rank();
  if (added < 0 || !(broadcast_shapes("sum_to", x.shape(), shape, where) == x.shape())) {
    fail<ShapeError>(where, "sum_to: shape {} does not come from broadcasting {}", x.shape(), shape);
  }
  Axes axes;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (axis < added || (shape[axis - added] == 1 && x.shape()[axis] != 1)) axes.push_back(axis);
  }
  return sum(x, axes, false, where).reshape(shape, where);
}

}  // namespace segue
