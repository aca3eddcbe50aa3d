// What a caller can get wrong ends in one of these, with one sentence that says what was expected,
// what came, and where.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace segue {

/// The caller's source line; the last, defaulted parameter of every function that checks its
/// arguments.
using Where = std::source_location;

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Shapes that do not fit together.
struct ShapeError : Error {
  using Error::Error;
};
/// An axis, an index or a token outside its range.
struct RangeError : Error {
  using Error::Error;
};
/// An argument whose value has no meaning, such as a negative temperature.
struct ValueError : Error {
  using Error::Error;
};
/// A graph used in a way it cannot serve, such as a second backward through a released one.
struct GraphError : Error {
  using Error::Error;
};
/// A file that cannot be read or written, or whose content breaks its format.
struct FileError : Error {
  using Error::Error;
};

/// "message (at folder/file.cpp:12)".
std::string located(const std::string& message, Where where);

/// "folder/file.cpp:12".
std::string short_location(Where where);

}  // namespace segue
