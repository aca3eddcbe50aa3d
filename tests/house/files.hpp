// The files of the project, for the tests that read them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace house {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

inline const fs::path root = SEGUE_SOURCE_DIR;

/// A file of the project; `path` is relative to its root.
inline Lines read_lines(const std::string& path) {
  Lines lines;
  std::ifstream file(root / path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// Without white space at both ends.
inline std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

/// The files below a folder whose names end in one of `endings`, sorted, relative to the root.
inline Lines files_below(const std::string& folder, const Lines& endings) {
  Lines found;
  if (!fs::exists(root / folder)) return found;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    if (entry.is_regular_file() && std::find(endings.begin(), endings.end(), entry.path().extension()) != endings.end())
      found.push_back(entry.path().lexically_relative(root).generic_string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

inline bool starts_with(const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; }

/// One fault a line, so that a test prints all of them at once; empty when all is well.
struct Faults {
  std::string text;
  void add(const std::string& file, std::size_t line, const std::string& what) {
    text += "\n" + file + (line ? ":" + std::to_string(line) : "") + ": " + what;
  }
};

}  // namespace house
