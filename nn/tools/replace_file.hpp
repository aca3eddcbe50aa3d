// Files that are either the old ones or the new ones, never half of each.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "tensor/error.hpp"

namespace segue {

/// Writes the bytes to `path`.tmp (left over from a kill, it is overwritten), flushes them to the
/// disk, and gives that file the place of the old one. Of several writers at once the last wins.
/// Throws FileError naming the path, and then the old file is as it was.
void replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                  Where where = Where::current());

}  // namespace segue
