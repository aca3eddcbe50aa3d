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
  constexpr std::size_t most = std::size_t{1} << 28;  // a device may never end
  std::string text;
  for (std::istreambuf_iterator<char> byte(file), end; byte != end; ++byte) {
    if (text.size() == most)
      throw FileError(located(fmt::format("{} has more than {} bytes", path.string(), most), where));
    text += *byte;
  }
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
