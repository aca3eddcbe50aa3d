#include "tensor/error.hpp"

#include <string_view>

namespace segue {

std::string short_location(Where where) {
  std::string_view path = where.file_name();
  const auto file = path.find_last_of('/');
  if (file != std::string_view::npos && file > 0) {
    const auto folder = path.find_last_of('/', file - 1);
    if (folder != std::string_view::npos) path.remove_prefix(folder + 1);
  }
  return std::string(path) + ":" + std::to_string(where.line());
}

std::string located(const std::string& message, Where where) {
  return message + " (at " + short_location(where) + ")";
}

}  // namespace segue
