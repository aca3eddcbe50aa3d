// A shape: the lengths of a tensor's axes, kept inline so that making one allocates nothing.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string>

#include "tensor/error.hpp"
#include "tensor/real.hpp"

namespace segue {

/// Up to eight axis lengths. Rank 0 is a single number, a zero length a tensor without elements;
/// both are ordinary.
class Shape {
 public:
  static constexpr int max_rank = 8;

  constexpr Shape() = default;
  constexpr Shape(std::initializer_list<Index> lengths, Where where = Where::current()) {
    for (const Index length : lengths) push_back(length, where);
  }
  explicit Shape(std::span<const Index> lengths, Where where = Where::current());
  /// `rank` axes of the same length.
  static Shape filled(int rank, Index length);

  int rank() const { return rank_; }
  /// Throws RangeError for an axis outside 0 .. rank-1.
  Index operator[](int axis) const { return lengths_[checked(axis)]; }
  Index& operator[](int axis) { return lengths_[checked(axis)]; }
  const Index* begin() const { return lengths_.data(); }
  const Index* end() const { return lengths_.data() + rank_; }
  constexpr void push_back(Index length, Where where = Where::current()) {
    if (rank_ == max_rank) throw ShapeError(located("a shape has at most 8 axes", where));
    lengths_[static_cast<std::size_t>(rank_++)] = length;
  }

  /// How many elements a tensor of this shape has; 1 for rank 0.
  Index size() const;
  bool operator==(const Shape& other) const {
    return this == &other || std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  std::size_t checked(int axis) const {
    if (axis < 0 || axis >= rank_) throw RangeError("a shape has no such axis");
    return static_cast<std::size_t>(axis);
  }
  std::array<Index, max_rank> lengths_{};
  int rank_ = 0;
};

/// How many elements apart neighbours along each axis lie; 0 along a broadcast axis.
using Strides = Shape;

/// Axis numbers, up to eight of them; negative ones count from the end.
class Axes {
 public:
  Axes() = default;
  Axes(std::initializer_list<int> axes, Where where = Where::current());
  explicit Axes(std::span<const int> axes, Where where = Where::current());

  int size() const { return size_; }
  int operator[](int i) const { return axes_[static_cast<std::size_t>(i)]; }
  int& operator[](int i) { return axes_[static_cast<std::size_t>(i)]; }
  const int* begin() const { return axes_.data(); }
  const int* end() const { return axes_.data() + size_; }
  /// Throws RangeError for a ninth.
  void push_back(int axis, Where where = Where::current());
  bool contains(int axis) const { return std::find(begin(), end(), axis) != end(); }
  bool operator==(const Axes& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  std::array<int, Shape::max_rank> axes_{};
  int size_ = 0;
};

/// "[2, 3]".
std::string to_string(const Shape& shape);

/// The strides of a tensor stored in row-major order without gaps.
Strides contiguous_strides(const Shape& shape);

/// `axis` brought into 0 .. rank-1. A rank-0 tensor accepts 0 and -1. Throws RangeError.
int normalize_axis(int axis, int rank, Where where = Where::current());

/// 0, 1, .. rank-1.
Axes all_axes(int rank);
/// 0, 1, .. rank-1 with two of them exchanged. Throws RangeError.
Axes exchanged_axes(int rank, int axis_a, int axis_b, Where where = Where::current());

/// Each axis normalised; an axis named twice is a RangeError.
Axes normalize_axes(const Axes& axes, int rank, Where where = Where::current());

/// The shape both broadcast to by NumPy's rule: aligned at the last axis, lengths equal or 1.
/// Throws ShapeError naming `op`.
Shape broadcast_shapes(const char* op, const Shape& x, const Shape& y,
                       Where where = Where::current());

/// Checks that lengths are not negative and the product of those above zero is representable.
/// Throws ShapeError.
void check_shape(const Shape& shape, Where where);

}  // namespace segue
