#include "tensor/matmul.hpp"

#include "tensor/fail.hpp"
#include "tensor/kernels/matmul.hpp"
#include "tensor/plain.hpp"

namespace segue {
namespace {

Shape leading_axes(const Shape& shape) { return Shape({shape.begin(), shape.end() - 2}); }

Shape product_shape(const Tensor& x, const Tensor& y, Where where) {
  if (x.rank() < 2 || y.rank() < 2) {
    fail<ShapeError>(where, "matmul: needs two axes or more on either side, got shapes {} and {}",
                     x.shape(), y.shape());
  }
  if (x.dim(-1) != y.dim(-2)) {
    fail<ShapeError>(where, "matmul: the last axis of {} and the last but one of {} differ",
                     x.shape(), y.shape());
  }
  Shape shape = broadcast_shapes("matmul", leading_axes(x.shape()), leading_axes(y.shape()), where);
  shape.push_back(x.dim(-2), where);
  shape.push_back(y.dim(-1), where);
  return shape;
}

// x with its leading axes broadcast to those of `shape`.
Tensor broadcast_leading(const Tensor& x, Shape shape) {
  shape[shape.rank() - 2] = x.dim(-2);
  shape[shape.rank() - 1] = x.dim(-1);
  return x.broadcast_to(shape);
}

}  // namespace

Tensor matmul(const Tensor& x, const Tensor& y, Where where) {
  if (plain()) return matmul_plain(x, y, where);
  Tensor z = Tensor::uninitialized(product_shape(x, y, where), where);
  if (x.dim(-1) == 0) {
    z.fill_in_place(0);
  } else if (z.size() > 0) {
    multiply_all(z, broadcast_leading(x, z.shape()), broadcast_leading(y, z.shape()));
  }
  return z;
}

Tensor matmul_plain(const Tensor& x, const Tensor& y, Where where) {
  Tensor z = Tensor::uninitialized(product_shape(x, y, where), where);
  const Index rows = x.dim(-2);
  const Index depth = x.dim(-1);
  const Index columns = y.dim(-1);
  const Tensor x_all = broadcast_leading(x, z.shape()).contiguous();
  const Tensor y_all = broadcast_leading(y, z.shape()).contiguous();
  Real* out = z.data_in_place();
  for (Index i = 0; columns > 0 && i < z.size() / columns; ++i) {  // the rows of all matrices
    const Real* const x_row = x_all.data() + i * depth;
    const Real* const y_matrix = y_all.data() + i / rows * depth * columns;
    for (Index j = 0; j < columns; ++j) {
      Real sum = 0;
      for (Index p = 0; p < depth; ++p) sum += x_row[p] * y_matrix[p * columns + j];
      *out++ = sum;
    }
  }
  return z;
}

}  // namespace segue
