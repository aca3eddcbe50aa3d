#include "tensor/tokens.hpp"

#include <utility>

#include "tensor/fail.hpp"

namespace segue {

Tokens::Tokens(const Shape& s, Where where) : shape(s) {
  check_shape(shape, where);
  ids.assign(static_cast<std::size_t>(shape.size()), 0);
}

Tokens::Tokens(const Shape& s, std::vector<Index> i, Where where) : shape(s), ids(std::move(i)) {
  check_shape(shape, where);
  if (size() != shape.size())
    fail<ShapeError>(where, "{} token ids do not fill shape {}", size(), shape);
}

}  // namespace segue
