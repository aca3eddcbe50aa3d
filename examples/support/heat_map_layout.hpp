// What the terminal and the SVG share of a heat map: its cells, where its ticks and boundaries are, and its colours.
// For the heat_map_*.cpp files.
#pragma once

#include <string>
#include <vector>

#include "examples/support/chart_scale.hpp"
#include "examples/support/heat_map.hpp"

namespace segue {

/// A label at a place on an axis, counted in cells: 0.5 is the middle of the first, 1 the edge before the second.
struct CellLabel {
  double at = 0;
  std::string text;
};

struct HeatLayout {
  Index rows = 0, columns = 0;  // of cells
  std::vector<double> cells;    // row by row; NaN for a gap
  bool has_gaps = false;
  AxisScale scale;  // of the values, both ends a tick
  std::vector<CellLabel> x_ticks, y_ticks;
  std::vector<CellLabel> x_boundaries, y_boundaries;  // in order, at whole numbers of cells
  bool numbered = false;                              // so few cells that each can show its number
  double cell(Index row, Index column) const { return cells[static_cast<std::size_t>(row * columns + column)]; }
};

struct CellLimits {
  Index rows, columns;   // the most cells
  int x_ticks, y_ticks;  // about the most ticks
};
/// Throws ShapeError unless the values have two axes.
HeatLayout lay_out(const HeatMap& map, const CellLimits& limits, Where where);

/// A value as a numbered cell shows it.
std::string cell_number(double value, const AxisScale& scale);

/// From light to dark, so that grey print and every eye keep the order.
struct Rgb {
  double red, green, blue;  // 0 .. 255
};
Rgb color_at(double share);
/// How bright it looks (CIE L*): 0 is black, 100 is white.
double lightness(const Rgb& color);

}  // namespace segue
