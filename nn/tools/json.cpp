#include "nn/tools/json.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <utility>

#include "tensor/fail.hpp"

namespace segue {
namespace {

bool is_high_surrogate(unsigned code) { return code >> 10 == 0xd800 >> 10; }
bool is_low_surrogate(unsigned code) { return code >> 10 == 0xdc00 >> 10; }

// A code point is 1, 2, 3 or 4 bytes, six bits in each after the first.
void append_utf8(std::string& out, unsigned code) {
  const int following = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr unsigned lead[] = {0x00, 0xc0, 0xe0, 0xf0};
  out += static_cast<char>(lead[following] | (code >> (6 * following)));
  for (int k = following - 1; k >= 0; --k)
    out += static_cast<char>(0x80 | ((code >> (6 * k)) & 0x3f));
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const unsigned lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80         ? 1
                               : lead >> 5 == 0x6  ? 2
                               : lead >> 4 == 0xe  ? 3
                               : lead >> 3 == 0x1e ? 4
                                                   : 0;
    if (length == 0 || length > text.size() - i) return false;
    unsigned code = length == 1 ? lead : lead & (0x7fu >> length);
    for (std::size_t k = 1; k < length; ++k) {
      const unsigned byte = static_cast<unsigned char>(text[i + k]);
      if (byte >> 6 != 2) return false;
      code = (code << 6) | (byte & 0x3f);
    }
    constexpr unsigned smallest[] = {0, 0, 0x80, 0x800,
                                     0x10000};  // anything less has a shorter form
    if (code < smallest[length] || code > 0x10ffff || is_high_surrogate(code) ||
        is_low_surrogate(code))
      return false;
    i += length;
  }
  return true;
}

}  // namespace

JsonReader::JsonReader(std::string_view text, std::string name, Where where)
    : text_(text), name_(std::move(name)), where_(where) {
  if (!is_utf8(text)) fail<FileError>(where, "{}: the JSON text is not UTF-8", name_);
}

void JsonReader::wrong(const std::string& expected) const {
  const std::string_view rest = text_.substr(position_, 1);
  fail<FileError>(where_, "{}: expected {} at byte {} of the JSON text, found {}", name_, expected,
                  position_, rest.empty() ? "the end" : fmt::format("{:?}", rest));
}

void JsonReader::skip_space() {
  while (next_is(' ') || next_is('\n') || next_is('\r') || next_is('\t')) ++position_;
}

bool JsonReader::accept(char c) {
  const bool accepted = next_is(c);
  if (accepted) ++position_;
  return accepted;
}

void JsonReader::end() {
  skip_space();
  if (position_ < text_.size()) wrong("nothing more");
}

void JsonReader::list(char open, char close, const std::function<void()>& item) {
  skip_space();
  if (!accept(open)) wrong(fmt::format("'{}'", open));
  skip_space();
  if (accept(close)) return;
  do {
    item();
    skip_space();
  } while (accept(','));
  if (!accept(close)) wrong(fmt::format("',' or '{}'", close));
}

void JsonReader::array(const std::function<void()>& element) { list('[', ']', element); }

void JsonReader::object(const std::function<void(const std::string& key)>& member) {
  std::set<std::string> keys;
  list('{', '}', [&] {
    const auto [key, is_new] = keys.insert(string());
    if (!is_new) wrong(fmt::format("each key once, {:?} comes again", key->substr(0, 100)));
    skip_space();
    if (!accept(':')) wrong("':'");
    member(*key);
  });
}

Index JsonReader::integer() {
  skip_space();
  const std::string_view rest = text_.substr(position_);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), value);  // knows no locale, no sign
  const auto digits = static_cast<std::size_t>(end - rest.data());
  const bool leading_zero = digits > 1 && rest[0] == '0';
  if (error != std::errc{} || leading_zero ||
      value > std::uint64_t{std::numeric_limits<Index>::max()}) {
    wrong("a whole number from 0 to 2^63 - 1");
  }
  position_ += digits;
  return static_cast<Index>(value);
}

std::string JsonReader::string() {
  skip_space();
  if (!accept('"')) wrong("a string");
  std::string out;
  while (!accept('"')) {
    if (accept('\\')) {
      escape(out);
    } else if (position_ == text_.size() || static_cast<unsigned char>(text_[position_]) < 0x20) {
      wrong("the rest of a string, without control characters,");
    } else {
      out += text_[position_++];
    }
  }
  return out;
}

// What follows a backslash.
void JsonReader::escape(std::string& out) {
  constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
  const std::string_view next = text_.substr(position_, 1);
  if (const auto letter = letters.find(next); letter != letters.npos && !next.empty()) {
    out += meanings[letter];
    ++position_;
    return;
  }
  unsigned code = hex4();
  if (is_high_surrogate(code)) {  // code points above 0xffff come as a pair
    if (!accept('\\')) wrong("the second half of a surrogate pair");
    const unsigned low = hex4();
    if (!is_low_surrogate(low)) wrong("the second half of a surrogate pair before this");
    code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
  } else if (is_low_surrogate(code)) {
    wrong("the first half of a surrogate pair before this");
  }
  append_utf8(out, code);
}

// The value of uXXXX.
unsigned JsonReader::hex4() {
  if (!accept('u')) wrong("one of the letters of JSON's escapes");
  const std::string_view digits = text_.substr(position_, 4);
  unsigned code = 0;
  const char* const end =
      std::from_chars(digits.data(), digits.data() + digits.size(), code, 16).ptr;
  if (end != digits.data() + 4) wrong("four hexadecimal digits");
  position_ += 4;
  return code;
}

std::string json_quote(std::string_view text, Where where) {
  if (!is_utf8(text)) fail<ValueError>(where, "{:?} is not UTF-8", text.substr(0, 100));
  std::string out = "\"";
  for (const char c : text) {
    constexpr std::string_view special = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
    if (const auto letter = special.find(c); letter != special.npos) {
      out += '\\';
      out += letters[letter];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace segue
