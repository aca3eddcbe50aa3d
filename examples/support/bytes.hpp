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

/// The bytes of a text.
std::vector<Index> to_bytes(const std::string& text);

/// A byte for the terminal: control characters other than line breaks and tabs become "?", all others stay.
std::string printable(Index byte);

}  // namespace segue
