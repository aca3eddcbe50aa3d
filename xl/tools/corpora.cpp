#include "xl/tools/corpora.hpp"

#include <fstream>

#include "tensor/fail.hpp"

namespace segue {
namespace {

// All of a file; nothing of one that is not there.
Stretch whole_file(const std::filesystem::path& file) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  return {file, 0, error ? 0 : static_cast<Index>(size)};
}

}  // namespace

SplitSizes standard_split(const std::string& file_name, Index size) {
  if ((file_name == "enwik8" || file_name == "text8") && size == 100'000'000) {
    return {90'000'000, 5'000'000, 5'000'000};
  }
  return {size - size / 10, 0, size / 10};
}

Corpus recognise_corpus(const std::filesystem::path& file, Where where) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    fail<FileError>(where, "cannot read the file {}", file.string());
  }
  const std::string name = file.filename().string();
  if (name == "wiki.train.tokens" || name == "wiki.valid.tokens" || name == "wiki.test.tokens") {
    const std::filesystem::path folder = file.parent_path();
    return {"WikiText", whole_file(folder / "wiki.train.tokens"),
            whole_file(folder / "wiki.valid.tokens"), whole_file(folder / "wiki.test.tokens")};
  }
  const SplitSizes sizes = standard_split(name, whole_file(file).size);
  const Index second = sizes.training, third = second + sizes.validation;
  return {sizes.validation > 0 ? name : "text",
          {file, 0, sizes.training},
          {file, second, sizes.validation},
          {file, third, sizes.test}};
}

std::string read_stretch(const Stretch& stretch, Where where) {
  std::string bytes;
  if (stretch.size == 0) return bytes;
  std::ifstream file(stretch.file, std::ios::binary);
  const Index held = whole_file(stretch.file).size;  // before memory is asked for
  if (!file || stretch.begin < 0 || stretch.size < 0 || stretch.begin > held ||
      stretch.size > held - stretch.begin) {
    fail<FileError>(where, "cannot read {} bytes from byte {} of {} on", stretch.size,
                    stretch.begin, stretch.file.string());
  }
  bytes.resize(static_cast<std::size_t>(stretch.size));
  file.seekg(stretch.begin);
  file.read(bytes.data(), static_cast<std::streamsize>(stretch.size));
  if (!file) fail<FileError>(where, "reading {} failed", stretch.file.string());
  return bytes;
}

}  // namespace segue
