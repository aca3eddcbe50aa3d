// Heat maps: a matrix as a field of colours. Drawn in the terminal (heat_map_terminal.cpp) and as SVG for the book
// (heat_map_svg.cpp), beside the charts of chart.hpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "examples/support/chart.hpp"
#include "tensor/tensor.hpp"

namespace segue {

struct HeatMap {
  std::string title;
  std::string description;                        // one sentence for readers who cannot see the picture
  AxisTitle x, y, value;                          // of columns, rows and colours; none is logarithmic
  Tensor values;                                  // [rows, columns], row 0 on top; a value that is not finite is a gap
  double first_x = 0, first_y = 0;                // what column 0 and row 0 count as; each next one counts as one more
  std::vector<Reference> boundaries{};            // lines between cells, just before the column or row of that value
  std::vector<std::string> x_names{}, y_names{};  // one for each column or row, in the place of numbers; may be empty
};

/// The map as lines of text, at most `width` (40 .. 100) columns. Where there is no room for each row or column, some
/// of them share a cell, which shows their mean. Throws ShapeError unless the values have two axes, and the names,
/// where there are some, are as many as rows or columns.
std::string to_text(const HeatMap& map, bool color, int width = 80, Where where = Where::current());

/// The map as a picture for a book. Throws ShapeError like to_text.
std::string to_svg(const HeatMap& map, Where where = Where::current());

/// Prints to stdout; with colour where wants_color says so.
void print(const HeatMap& map, Where where = Where::current());

/// Writes the SVG. Throws FileError.
void write_svg(const std::filesystem::path& path, const HeatMap& map, Where where = Where::current());

}  // namespace segue
