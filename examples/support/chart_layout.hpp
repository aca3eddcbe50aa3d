// What the terminal and the SVG share: what is drawn on which axes, and whose turn it is where several series lie on
// one another. For the chart_*.cpp files.
#pragma once

#include <string>
#include <vector>

#include "examples/support/chart.hpp"
#include "examples/support/chart_scale.hpp"

namespace segue {

struct Layout {
  Chart chart;  // with logarithms in the place of values where an axis is logarithmic
  AxisScale x, y;
  std::vector<std::string> names;  // each once, in order; their places number the colours and markers
  std::vector<bool> measured;      // whether a series of that name is
  bool has_measured = false, has_theory = false;
  std::size_t name_number(const Series& series) const;
  /// How the legend shows a name: as theory when nothing was measured for it.
  Kind kind_of(std::size_t name) const { return measured[name] ? Kind::measured : Kind::theory; }
};
/// Throws ValueError when x and y of a series differ in length.
Layout lay_out(const Chart& chart, int x_ticks, int y_ticks, Where where);

/// Series of a kind in the order they are drawn: theory first, so that what was measured lies on top.
std::vector<const Series*> drawing_order(const Chart& chart);

bool is_point(const Series& series, std::size_t i);
/// Whether point i gets a marker: all do in a short series, some in a long one, and those without neighbours.
bool is_marked(const Layout& layout, const Series& series, std::size_t i);
/// Series that lie on one another take turns, point by point, so that all stay visible. Whether it is the turn of
/// `series` at point i (and, for a line, up to the next point), among those of its kind within `near` of its y.
bool has_turn(const Chart& chart, const Series& series, std::size_t i, std::size_t next, double near);

/// "loss (nats)".
std::string axis_text(const AxisTitle& axis);
/// Words in lines of at most `width` characters.
std::vector<std::string> wrap(const std::string& text, int width);

}  // namespace segue
