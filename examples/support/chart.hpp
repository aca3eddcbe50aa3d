// Charts: what is to be drawn. It is drawn in the terminal (chart_terminal.cpp) and as SVG for the book
// (chart_svg.cpp).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tensor/error.hpp"

namespace segue {

enum class Kind {
  measured,  // solid line, filled markers
  theory     // dashed line, hollow markers
};

/// Points joined by lines. Series of one name share colour and marker: what was measured, and what theory says of it.
/// A value that is not finite is a gap.
struct Series {
  std::string name;
  std::vector<double> x, y;
  Kind kind = Kind::measured;
  bool steps = false;  // a staircase that changes half-way between points, instead of slanted lines
};

/// A thin line across the chart, at a value of one axis: {"ln 16 = 2.77", std::log(16.0)}.
struct Reference {
  std::string label;
  double value = 0;
  bool vertical = false;  // at an x, instead of at a y
};

struct AxisTitle {
  std::string title;
  std::string unit = "";             // "nats"; empty for a pure number
  bool logarithmic = false;          // 0 has a tick of its own below all others; what is below 0 is a gap
  std::vector<std::string> names{};  // of the values 1, 2, ..: ticks at these alone, on a linear axis
};

struct Chart {
  std::string title;
  std::string description;  // one sentence for readers who cannot see the picture
  AxisTitle x, y;
  std::vector<Series> series{};
  std::vector<Reference> references{};
};

/// The chart as lines of text, at most `width` (40 .. 100) columns. Throws ValueError when x and y of a series differ
/// in length.
std::string to_text(const Chart& chart, bool color, int width = 80, Where where = Where::current());

/// The chart as a picture for a book. Throws ValueError like to_text.
std::string to_svg(const Chart& chart, Where where = Where::current());

/// Prints to stdout; with colour where wants_color says so.
void print(const Chart& chart, Where where = Where::current());

/// Writes the SVG. Throws FileError.
void write_svg(const std::filesystem::path& path, const Chart& chart, Where where = Where::current());

}  // namespace segue
