#include "tensor/indexing.hpp"

#include <algorithm>
#include <limits>

#include "tensor/fail.hpp"

namespace segue {
namespace {

// `indices` replaces `axis` in `shape`.
Shape gathered_shape(const Shape& shape, const Tokens& indices, int axis, Where where) {
  Shape result;
  for (int a = 0; a < shape.rank(); ++a) {
    if (a != axis) {
      result.push_back(shape[a], where);
      continue;
    }
    for (const Index length : indices.shape) result.push_back(length, where);
  }
  return result;
}

void check_indices(const Tokens& indices, Index limit, Where where) {
  if (indices.size() != indices.shape.size()) {
    fail<ShapeError>(where, "gather: {} indices do not fill shape {}", indices.size(),
                     indices.shape);
  }
  for (Index i = 0; i < indices.size(); ++i) {
    if (indices[i] < 0 || indices[i] >= limit) {
      fail<RangeError>(where, "gather: index {} at position {} is outside 0 .. {}", indices[i], i,
                       limit - 1);
    }
  }
}

// Lengths before, along and behind an axis of a contiguous tensor.
struct Blocks {
  Index outer = 1, along, inner = 1;
  Blocks(const Shape& shape, int axis) : along(shape[axis]) {
    for (int a = 0; a < axis; ++a) outer *= shape[a];
    for (int a = axis + 1; a < shape.rank(); ++a) inner *= shape[a];
  }
};

int checked_axis(const Shape& shape, int axis, Where where) {
  check_shape(shape, where);
  if (shape.rank() == 0)
    fail<ShapeError>(where, "gather: needs at least one axis, the tensor has rank 0");
  return normalize_axis(axis, shape.rank(), where);
}

}  // namespace

Tensor gather(const Tensor& x, const Tokens& indices, int axis, Where where) {
  const int a = checked_axis(x.shape(), axis, where);
  const Blocks blocks(x.shape(), a);
  check_indices(indices, blocks.along, where);
  const Tensor source = x.contiguous();
  Tensor z = Tensor::uninitialized(gathered_shape(x.shape(), indices, a, where), where);
  Real* out = z.data_in_place();
  for (Index o = 0; o < blocks.outer; ++o) {
    const Real* from = source.data() + o * blocks.along * blocks.inner;
    for (const Index index : indices.ids) {
      out = std::copy_n(from + index * blocks.inner, blocks.inner, out);
    }
  }
  return z;
}

Tensor scatter_add(const Tensor& dz, const Shape& shape, const Tokens& indices, int axis,
                   Where where) {
  const int a = checked_axis(shape, axis, where);
  const Blocks blocks(shape, a);
  check_indices(indices, blocks.along, where);
  const Shape expected = gathered_shape(shape, indices, a, where);
  if (!(dz.shape() == expected))
    fail<ShapeError>(where, "scatter_add: got {}, expected {}", dz.shape(), expected);
  const Tensor source = dz.contiguous();
  const Real* in = source.data();
  Tensor dx = Tensor::zeros(shape, where);
  for (Index o = 0; o < blocks.outer; ++o) {
    Real* to = dx.data_in_place() + o * blocks.along * blocks.inner;
    for (const Index index : indices.ids) {
      Real* row = to + index * blocks.inner;
      for (Index i = 0; i < blocks.inner; ++i) row[i] += in[i];
      in += blocks.inner;
    }
  }
  return dx;
}

Tensor concat(const std::vector<Tensor>& parts, int axis, Where where) {
  if (parts.empty()) fail<ShapeError>(where, "concat: no tensors to join");
  if (parts[0].rank() == 0)
    fail<ShapeError>(where, "concat: tensors of rank 0 have no axis to join along");
  const int a = normalize_axis(axis, parts[0].rank(), where);
  Shape shape = parts[0].shape();
  shape[a] = 0;
  for (const Tensor& part : parts) {
    Shape expected = parts[0].shape();
    if (part.rank() == shape.rank()) expected[a] = part.shape()[a];
    if (!(part.shape() == expected)) {
      fail<ShapeError>(where, "concat: shapes {} and {} differ off axis {}", parts[0].shape(),
                       part.shape(), a);
    }
    if (shape[a] > std::numeric_limits<Index>::max() - part.shape()[a]) {
      fail<ShapeError>(where,
                       "concat: the lengths along axis {} add up to more than can be counted", a);
    }
    shape[a] += part.shape()[a];
  }
  Tensor z = Tensor::uninitialized(shape, where);
  Index start = 0;
  for (const Tensor& part : parts) {
    Tensor place = z.narrow(a, start, part.shape()[a]);
    place.copy_in_place(part);
    start += part.shape()[a];
  }
  return z;
}

}  // namespace segue
