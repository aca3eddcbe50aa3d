// Texts that models are compared on, recognised by name and size, and how each is split. Nothing is
// downloaded.
#pragma once

#include <filesystem>
#include <string>

#include "tensor/error.hpp"
#include "tensor/real.hpp"

namespace segue {

/// A stretch of a file, in bytes.
struct Stretch {
  std::filesystem::path file;
  Index begin = 0;
  Index size = 0;
};

struct Corpus {
  std::string name;  // "enwik8", "text8", "WikiText", or "text" for any other file
  Stretch training;
  Stretch validation;  // empty for a text that nobody has split
  Stretch test;
};

struct SplitSizes {
  Index training, validation, test;
};

/// The sizes in bytes in which a file of this name and size is split. enwik8 and text8, exactly
/// 100,000,000 bytes each: 90, 5 and 5 million. Any other file: its last tenth is the test.
SplitSizes standard_split(const std::string& file_name, Index size);

/// The corpus that a file belongs to, "wiki.train.tokens", "wiki.valid.tokens" and
/// "wiki.test.tokens" being the three parts of one (a part that is missing is empty). Throws
/// FileError for a file that is not there or is no regular file.
Corpus recognise_corpus(const std::filesystem::path& file, Where where = Where::current());

/// The bytes of a stretch. Throws FileError when the file does not have them.
std::string read_stretch(const Stretch& stretch, Where where = Where::current());

}  // namespace segue
