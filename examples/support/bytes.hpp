// Files as sequences of bytes, which are the tokens of a byte-level model.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tensor/error.hpp"
#include "tensor/real.hpp"

namespace segue {

/// The bytes of a file, 0 .. 255. Throws FileError.
std::vector<Index> read_bytes(const std::filesystem::path& path, Where where = Where::current());

/// The bytes of a text, and the text of bytes.
std::vector<Index> to_bytes(const std::string& text);
std::string to_text(const std::vector<Index>& bytes);

/// Bytes for the terminal as they come, one at a time. Whole UTF-8 characters pass, line breaks and tabs too; control
/// characters, which could make the terminal do things, and whatever is no UTF-8 become "?".
class PrintableText {
 public:
  /// What can be printed now; nothing while a character is incomplete.
  std::string next(Index byte);

 private:
  std::string character_;   // its bytes so far
  std::size_t length_ = 0;  // of the whole character
};

}  // namespace segue
