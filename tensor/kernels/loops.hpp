// Loops over tensors of any strides, as long and as few as the strides allow: most of the time of a
// small op would go into finding out where its next element lies.
#pragma once

#include <algorithm>

#include "tensor/parallel.hpp"
#include "tensor/tensor.hpp"

namespace segue {

inline constexpr Index elements_per_thread = 131072;  // fewer are not worth waking a thread for

/// Up to three tensors of one shape with neighbouring axes merged wherever all of them allow it, so
/// that the common cases (contiguous, scalar against tensor, row against matrix) become one or two
/// long loops.
struct Loops {
  Shape shape;         // at least one axis
  Strides strides[3];  // of each tensor, under `shape`
  Index row_length() const { return shape[shape.rank() - 1]; }
  Index step(int tensor) const { return strides[tensor][shape.rank() - 1]; }
  /// Where row number `row` (all axes but the last, in row-major order) starts in a tensor.
  Index row_offset(int tensor, Index row) const;
};
/// Where the rows start in each tensor, one row after the other: an odometer, since dividing for
/// every row would cost more than a short row itself.
struct RowWalk {
  RowWalk(const Loops& loops, Index row);
  void next();

  const Loops& loops;
  Shape index;       // of the row, without the last axis
  Index offsets[3];  // in each tensor
};

/// The axes of `shape`, merged where the strides of all three tensors allow it.
Loops merge_axes(const Shape& shape, const Strides& a, const Strides& b, const Strides& c);

/// z[i] = f(x[i], y[i]) along one row of n. Separate loops for the usual steps let the compiler use
/// vectors.
template <class F>
void map_row(Index n, Real* z, Index z_step, const Real* x, Index x_step, const Real* y,
             Index y_step, const F& f) {
  if (z_step == 1 && x_step == 1 && y_step == 1) {
    for (Index i = 0; i < n; ++i) z[i] = f(x[i], y[i]);
  } else if (z_step == 1 && x_step == 1 && y_step == 0) {
    const Real y0 = *y;
    for (Index i = 0; i < n; ++i) z[i] = f(x[i], y0);
  } else if (z_step == 1 && x_step == 0 && y_step == 1) {
    const Real x0 = *x;
    for (Index i = 0; i < n; ++i) z[i] = f(x0, y[i]);
  } else {
    for (Index i = 0; i < n; ++i) z[i * z_step] = f(x[i * x_step], y[i * y_step]);
  }
}

/// z[i] = f(x[i], y[i]) for x and y that broadcast to the shape of z, which has elements.
template <class F>
void map_rows(Tensor& z, const Tensor& x, const Tensor& y, const F& f) {
  if (z.lies_like(x) && z.lies_like(y)) {
    return parallel_for(
        z.size(), elements_per_thread,
        [out = z.data_in_place(), in_x = x.data(), in_y = y.data(), &f](Index begin, Index end) {
          map_row(end - begin, out + begin, 1, in_x + begin, 1, in_y + begin, 1, f);
        });
  }
  const Shape& shape = z.shape();
  const Loops loops = merge_axes(shape, z.strides(), x.broadcast_to(shape).strides(),
                                 y.broadcast_to(shape).strides());
  const Index n = loops.row_length();
  Real* const out = z.data_in_place();
  const Real* const in_x = x.data();
  const Real* const in_y = y.data();
  parallel_for(z.size(), elements_per_thread, [&](Index begin, Index end) {
    RowWalk walk(loops, begin / n);
    Index first = begin % n;  // only the first row can be entered in the middle
    for (Index i = begin; i < end; walk.next()) {
      const Index count = std::min(n - first, end - i);
      map_row(count, out + walk.offsets[0] + first * loops.step(0), loops.step(0),
              in_x + walk.offsets[1] + first * loops.step(1), loops.step(1),
              in_y + walk.offsets[2] + first * loops.step(2), loops.step(2), f);
      i += count;
      first = 0;
    }
  });
}

}  // namespace segue
