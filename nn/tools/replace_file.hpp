// Files as a whole: read at once, and replaced so that they are either the old ones or the new
// ones, never half of each.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "tensor/error.hpp"

namespace segue {

/// All bytes of a file, or of a device that ends. Throws FileError when it cannot be read or has
/// more than 256 MiB.
std::string read_file(const std::filesystem::path& path, Where where = Where::current());

/// Writes the bytes to `path`.tmp (left over from a kill, it is overwritten), flushes them to the
/// disk, and gives that file the place of the old one. Of several writers at once the last wins.
/// Throws FileError naming the path, and then the old file is as it was.
void replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                  Where where = Where::current());

}  // namespace segue
