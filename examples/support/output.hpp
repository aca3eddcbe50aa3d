// Files that a lesson leaves behind.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tensor/error.hpp"
#include "tensor/real.hpp"

namespace segue {

/// Makes the folder and those above it. Throws FileError when that cannot be, or nothing can be written there.
void make_folder(const std::filesystem::path& folder, Where where = Where::current());

/// Writes a temporary file beside `path` and renames it, so that `path` holds the old content or all of the new.
/// Creates the folders it lies in. Throws FileError naming the path.
void write_text_file(const std::filesystem::path& path, const std::string& text, Where where = Where::current());

/// One field of a table. Numbers are written with as many digits as it takes to read back the same number.
struct Cell {
  Cell(double value);
  Cell(float value);
  Cell(Index value);
  Cell(int value);
  Cell(const std::string& value);
  Cell(const char* value);
  std::string text;
};

/// Rows of cells under a header.
struct Table {
  explicit Table(std::vector<std::string> names) : header(std::move(names)) {}
  /// Throws ValueError unless there is one cell for each column.
  void add_row(std::vector<Cell> cells, Where where = Where::current());

  std::vector<std::string> header;
  std::vector<std::vector<Cell>> rows;
};

/// The table as CSV (RFC 4180, with plain newlines): a field with a comma, a quote or a line break is quoted.
std::string to_csv(const Table& table);
/// Throws FileError.
void write_csv(const std::filesystem::path& path, const Table& table, Where where = Where::current());

}  // namespace segue
