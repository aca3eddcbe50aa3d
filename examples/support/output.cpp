#include "examples/support/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <span>

#include "nn/tools/replace_file.hpp"

namespace segue {

void write_text_file(const std::filesystem::path& path, const std::string& text, Where where) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) throw FileError(located(fmt::format("cannot write {}: {}", path.string(), error.message()), where));
  replace_file(path, std::as_bytes(std::span(text)), where);
}

void make_folder(const std::filesystem::path& folder, Where where) {
  std::error_code error;
  if (folder.empty()) error = std::make_error_code(std::errc::invalid_argument);
  if (!error) std::filesystem::create_directories(folder, error);
  if (!error && ::access(folder.c_str(), W_OK | X_OK) != 0) error.assign(errno, std::generic_category());
  if (error)
    throw FileError(
        located(fmt::format("cannot write into folder \"{}\": {}", folder.string(), error.message()), where));
}

Cell::Cell(double value) : text(std::isnan(value) ? "nan" : fmt::format("{}", value)) {}
Cell::Cell(float value) : text(std::isnan(value) ? "nan" : fmt::format("{}", value)) {}
Cell::Cell(Index value) : text(fmt::format("{}", value)) {}
Cell::Cell(int value) : text(fmt::format("{}", value)) {}
Cell::Cell(const std::string& value) : text(value) {}
Cell::Cell(const char* value) : text(value) {}

void Table::add_row(std::vector<Cell> cells, Where where) {
  if (cells.size() != header.size()) {
    throw ValueError(located(
        fmt::format("table: expected {} cells, one for each column, got {}", header.size(), cells.size()), where));
  }
  rows.push_back(std::move(cells));
}

namespace {

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::string to_csv(const Table& table) {
  std::string text;
  const auto add = [&text](const std::string& field, bool last) { text += csv_field(field) + (last ? '\n' : ','); };
  for (const std::string& name : table.header) add(name, &name == &table.header.back());
  for (const std::vector<Cell>& row : table.rows) {
    for (const Cell& cell : row) add(cell.text, &cell == &row.back());
  }
  return text;
}

void write_csv(const std::filesystem::path& path, const Table& table, Where where) {
  write_text_file(path, to_csv(table), where);
}

}  // namespace segue
