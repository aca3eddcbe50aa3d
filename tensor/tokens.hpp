// Token ids: whole numbers with a shape, apart from Tensor so that an id can never be mistaken for
// a value.
#pragma once

#include <vector>

#include "tensor/error.hpp"
#include "tensor/shape.hpp"

namespace segue {

/// Row-major token ids, usually [B, T]. Whoever uses them as indices checks their range.
struct Tokens {
  Tokens() : shape{0} {}
  /// Zeros.
  explicit Tokens(const Shape& shape, Where where = Where::current());
  /// Throws ShapeError when the number of ids does not fit the shape.
  Tokens(const Shape& shape, std::vector<Index> ids, Where where = Where::current());

  Index size() const { return static_cast<Index>(ids.size()); }
  Index operator[](Index position) const { return ids[static_cast<std::size_t>(position)]; }
  Index& operator[](Index position) { return ids[static_cast<std::size_t>(position)]; }
  bool operator==(const Tokens&) const = default;

  Shape shape;
  std::vector<Index> ids;
};

}  // namespace segue
