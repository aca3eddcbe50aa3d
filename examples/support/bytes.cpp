#include "examples/support/bytes.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

namespace segue {

std::vector<Index> read_bytes(const std::filesystem::path& path, Where where) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) {
    throw FileError(located(fmt::format("cannot read the file {}", path.string()), where));
  }
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw FileError(located(fmt::format("reading {} failed", path.string()), where));
  return to_bytes(text);
}

std::vector<Index> to_bytes(const std::string& text) {
  std::vector<Index> bytes;
  bytes.reserve(text.size());
  for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
  return bytes;
}

std::string printable(Index byte) {
  const bool control = (byte < 32 && byte != '\n' && byte != '\t') || byte == 127;
  return std::string(1, control ? '?' : static_cast<char>(byte));
}

}  // namespace segue
