// Applies a function to every element, of one tensor or of two that broadcast. For .cpp files: the
// loops are compiled once for each function. Whatever the strides, the elements are walked in the
// order of the result.
#pragma once

#include "tensor/kernels/loops.hpp"
#include "tensor/plain.hpp"
#include "tensor/tensor.hpp"

namespace segue {

/// How far from its first element number i of x lies, in row-major order.
Index offset_of_element(const Tensor& x, Index i);

/// z[i] = f(x[i], y[i]); x and y broadcast to z. z may be x or y itself, but must not overlap them
/// otherwise.
template <class F>
void map_into(Tensor& z, const Tensor& x, const Tensor& y, const F& f) {
  if (z.size() == 0) return;
  if (!plain()) return map_rows(z, x, y, f);
  const Tensor x_all = x.broadcast_to(z.shape());
  const Tensor y_all = y.broadcast_to(z.shape());
  Real* const out = z.data_in_place();
  for (Index i = 0; i < z.size(); ++i) {
    const Real a = x_all.data()[offset_of_element(x_all, i)];
    const Real b = y_all.data()[offset_of_element(y_all, i)];
    out[offset_of_element(z, i)] = f(a, b);
  }
}

/// A new tensor of f(x[i]).
template <class F>
Tensor map(const Tensor& x, const F& f) {
  Tensor z = Tensor::uninitialized_like(x);
  map_into(z, x, x, [&f](Real a, Real) { return f(a); });
  return z;
}

/// A new tensor of f(x[i], y[i]) under NumPy broadcasting. Throws ShapeError naming `op`.
template <class F>
Tensor map(const char* op, const Tensor& x, const Tensor& y, Where where, const F& f) {
  Tensor z = x.lies_like(y)
                 ? Tensor::uninitialized_like(x)
                 : Tensor::uninitialized(broadcast_shapes(op, x.shape(), y.shape(), where), where);
  map_into(z, x, y, f);
  return z;
}

/// A tensor that `x` may be overwritten from: y, or a copy where y overlaps x. Throws ShapeError
/// unless y broadcasts to x, and ValueError when x is a broadcast view, in which one number would
/// be written more than once.
Tensor source_for_writing(const Tensor& x, const Tensor& y, Where where);

/// x[i] = f(x[i], y[i]); y broadcasts to x.
template <class F>
void map_in_place(Tensor& x, const Tensor& y, const F& f, Where where = Where::current()) {
  map_into(x, x, source_for_writing(x, y, where), f);
}

}  // namespace segue
