#include "tensor/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "tensor/fail.hpp"

namespace segue {

Shape::Shape(std::span<const Index> lengths, Where where) {
  for (const Index length : lengths) push_back(length, where);
}

Shape Shape::filled(int rank, Index length) {
  Shape shape;
  for (int axis = 0; axis < rank; ++axis) shape.push_back(length);
  return shape;
}

Index Shape::size() const {
  Index product = 1;
  for (const Index length : *this) product *= length;
  return product;
}

std::string to_string(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), ", "));
}

Strides contiguous_strides(const Shape& shape) {
  Strides strides = shape;
  Index step = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

int normalize_axis(int axis, int rank, Where where) {
  const int limit = std::max(rank, 1);
  if (axis < -limit || axis >= limit) {
    fail<RangeError>(where, "axis {} is outside -{} .. {} for a tensor of rank {}", axis, limit,
                     limit - 1, rank);
  }
  return axis < 0 ? axis + limit : axis;
}

Axes::Axes(std::initializer_list<int> axes, Where where) {
  for (const int axis : axes) push_back(axis, where);
}

Axes::Axes(std::span<const int> axes, Where where) {
  for (const int axis : axes) push_back(axis, where);
}

void Axes::push_back(int axis, Where where) {
  if (size_ == Shape::max_rank) fail<RangeError>(where, "a tensor has at most 8 axes");
  axes_[static_cast<std::size_t>(size_++)] = axis;
}

Axes normalize_axes(const Axes& axes, int rank, Where where) {
  Axes normalized;
  for (const int axis : axes) {
    const int a = normalize_axis(axis, rank, where);
    if (normalized.contains(a)) fail<RangeError>(where, "axis {} is named twice", axis);
    normalized.push_back(a);
  }
  return normalized;
}

Axes all_axes(int rank) {
  Axes axes;
  for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

Axes exchanged_axes(int rank, int axis_a, int axis_b, Where where) {
  const int a = normalize_axis(axis_a, rank, where);
  const int b = normalize_axis(axis_b, rank, where);
  Axes axes = all_axes(rank);
  if (rank > 0) std::swap(axes[a], axes[b]);
  return axes;
}

Shape broadcast_shapes(const char* op, const Shape& x, const Shape& y, Where where) {
  if (x == y) return x;
  const int rank = std::max(x.rank(), y.rank());
  Shape result = Shape::filled(rank, 1);
  for (int back = 1; back <= rank; ++back) {
    const Index a = back <= x.rank() ? x[x.rank() - back] : 1;
    const Index b = back <= y.rank() ? y[y.rank() - back] : 1;
    if (a != b && a != 1 && b != 1) {
      fail<ShapeError>(where, "{}: shapes {} and {} do not broadcast: {} against {} at axis -{}",
                       op, x, y, a, b, back);
    }
    result[rank - back] = a == 1 ? b : a;
  }
  return result;
}

void check_shape(const Shape& shape, Where where) {
  Index product = 1;
  for (const Index length : shape) {
    if (length < 0) fail<ShapeError>(where, "a length below zero in shape {}", shape);
    if (length == 0) continue;  // the other lengths must still make strides that can be counted
    if (product > std::numeric_limits<Index>::max() / length) {
      fail<ShapeError>(where, "shape {} has more elements than can be counted", shape);
    }
    product *= length;
  }
}

}  // namespace segue
