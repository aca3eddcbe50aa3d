#include "examples/support/bytes.hpp"

#include <array>

#include "nn/tools/replace_file.hpp"

namespace segue {
namespace {

// Bytes of the UTF-8 character that begins with this one; 0 where none does.
std::size_t utf8_length(Index byte) {
  if (byte < 0x80) return 1;
  if (byte >= 0xC2 && byte < 0xE0) return 2;
  if (byte >= 0xE0 && byte < 0xF0) return 3;
  return byte >= 0xF0 && byte < 0xF5 ? 4 : 0;
}

// Of as many bytes as its first one asks for: whether it is a character, spelt in the shortest way, and no control.
bool is_printable(const std::string& character) {
  constexpr std::array<unsigned, 4> first_bits{0x7F, 0x1F, 0x0F, 0x07}, least{0, 0x80, 0x800, 0x10000};
  unsigned code = static_cast<unsigned char>(character[0]) & first_bits[character.size() - 1];
  for (std::size_t k = 1; k < character.size(); ++k)
    code = code << 6 | (static_cast<unsigned char>(character[k]) & 0x3F);
  const bool control = (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return !control && !surrogate && code >= least[character.size() - 1] && code <= 0x10FFFF;
}

}  // namespace

std::vector<Index> read_bytes(const std::filesystem::path& path, Where where) {
  return to_bytes(read_file(path, where));
}

std::vector<Index> to_bytes(const std::string& text) {
  std::vector<Index> bytes;
  bytes.reserve(text.size());
  for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
  return bytes;
}

std::string to_text(const std::vector<Index>& bytes) {
  std::string text;
  for (const Index byte : bytes) text += static_cast<char>(byte);
  return text;
}

std::string PrintableText::next(Index byte) {
  std::string text;
  const bool goes_on = byte >= 0x80 && byte < 0xC0;
  if (!goes_on && !character_.empty()) text = "?", character_.clear();  // one that was never finished
  if (character_.empty()) length_ = utf8_length(byte);
  character_ += static_cast<char>(byte);
  if (character_.size() < length_) return text;
  text += length_ > 0 && is_printable(character_) ? character_ : "?";
  character_.clear();
  return text;
}

}  // namespace segue
