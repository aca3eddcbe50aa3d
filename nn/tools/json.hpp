// As much JSON as the header of a safetensors file needs: objects, arrays, strings and whole
// numbers from 0 on.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tensor/error.hpp"
#include "tensor/real.hpp"

namespace segue {

/// Reads a JSON text from left to right, one call for each value the caller expects to come next.
/// No tree is built: the caller's code has the shape of the document, so the text can neither nest
/// deeper nor need more memory than the caller has foreseen. Anything else than what is asked for
/// throws FileError with the place in the text.
class JsonReader {
 public:
  /// `text` must outlive the reader; errors call it `name`. Throws FileError when it is not UTF-8.
  JsonReader(std::string_view text, std::string name, Where where = Where::current());

  /// { "key": value, .. }: calls `member` with each key, to read the value. A key that comes twice
  /// is an error.
  void object(const std::function<void(const std::string& key)>& member);
  /// [ value, .. ]: calls `element` before each value, to read it.
  void array(const std::function<void()>& element);
  std::string string();
  /// A whole number from 0 to the largest Index.
  Index integer();
  /// Nothing but white space may be left.
  void end();
  /// Throws FileError: "name: expected .. at byte 7 of the JSON text, found ..".
  [[noreturn]] void wrong(const std::string& expected) const;

 private:
  bool next_is(char c) const { return position_ < text_.size() && text_[position_] == c; }
  bool accept(char c);  // c, here
  void skip_space();
  void list(char open, char close, const std::function<void()>& item);
  void escape(std::string& out);
  unsigned hex4();

  std::string_view text_;
  std::size_t position_ = 0;
  std::string name_;
  Where where_;
};

/// `text` as a JSON string, quotes included. Throws ValueError when it is not UTF-8.
std::string json_quote(std::string_view text, Where where = Where::current());

}  // namespace segue
