// Throws a formatted error, which may show shapes. For .cpp files only, so that headers stay free
// of fmt.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "tensor/error.hpp"
#include "tensor/shape.hpp"

namespace segue {

/// fail<ShapeError>(where, "add: shapes {} and {} do not broadcast", a, b) throws with the caller's
/// line appended.
template <class ErrorType, class... Arguments>
[[noreturn]] void fail(Where where, fmt::format_string<Arguments...> format,
                       Arguments&&... arguments) {
  throw ErrorType(located(fmt::format(format, std::forward<Arguments>(arguments)...), where));
}

}  // namespace segue

template <>
struct fmt::formatter<segue::Shape> : fmt::formatter<std::string> {
  auto format(const segue::Shape& shape, format_context& context) const {
    return formatter<std::string>::format(segue::to_string(shape), context);
  }
};
