// Heat maps as lines of text: denser characters for higher values, over colours that grow darker with them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "examples/support/chart_layout.hpp"
#include "examples/support/heat_map_layout.hpp"
#include "examples/support/terminal.hpp"

namespace segue {

namespace {

constexpr std::array shades{" ", "·", ":", "-", "=", "+", "*", "#", "%", "@"};
constexpr std::array shade_colors{230, 222, 215, 209, 203, 161, 125, 89, 53, 17};  // of the 256, from light to dark
constexpr const char* gap = "/";
constexpr int number_width = 7;

std::size_t shade_of(double share) {
  return static_cast<std::size_t>(std::clamp(std::floor(share * shades.size()), 0.0, shades.size() - 1.0));
}

// On a coloured ground: numbers in black or white, a shade's own character in the colour of its ground, so that it is
// not seen but is still there when the text is copied.
std::string on_ground(const std::string& text, std::size_t shade, bool is_number) {
  const int ink = !is_number ? shade_colors[shade] : shade < 5 ? 16 : 231;
  return fmt::format("\x1b[38;5;{};48;5;{}m{}\x1b[0m", ink, shade_colors[shade], text);
}

struct CellStyle {
  int width;  // in characters
  bool color;
};

std::string cell_text(const HeatLayout& layout, double value, const CellStyle& style) {
  std::string text;
  const bool is_gap = std::isnan(value);
  const std::size_t shade = is_gap ? 0 : shade_of(layout.scale.at(value));
  if (layout.numbered && !is_gap) {
    const std::string number = cell_number(value, layout.scale);
    text = fmt::format("{:>{}}", number, style.width - 1) + " ";
  } else {
    for (int k = 0; k < style.width; ++k) text += is_gap ? gap : shades[shade];
  }
  return style.color && !is_gap ? on_ground(text, shade, layout.numbered) : text;
}

bool has_boundary(const std::vector<CellLabel>& boundaries, Index before) {
  return std::any_of(boundaries.begin(), boundaries.end(),
                     [before](const CellLabel& b) { return b.at == static_cast<double>(before); });
}

// Characters left of a place, counted in cells, with a boundary as wide as one character.
int offset_of(const HeatLayout& layout, double cells, int width) {
  int offset = static_cast<int>(std::floor(cells * width));
  for (Index before = 0; static_cast<double>(before) <= cells; ++before) {
    offset += has_boundary(layout.x_boundaries, before) ? 1 : 0;
  }
  return offset;
}

// What the characters mean, from low to high, and the lines.
std::string heat_legend(const HeatMap& map, const HeatLayout& layout, bool color, int width) {
  std::string bar;
  for (std::size_t shade = 0; shade < shades.size(); ++shade) {
    for (int k = 0; k < 2; ++k) bar += color ? on_ground(shades[shade], shade, false) : shades[shade];
  }
  const std::string name = axis_text(map.value);
  std::string text = fmt::format("{}{}{} [{}] {}", name, name.empty() ? "" : ": ", layout.scale.labels.front(), bar,
                                 layout.scale.labels.back());
  int used = columns(name) + columns(layout.scale.labels.front()) + columns(layout.scale.labels.back()) + 26;
  const auto entry = [&](const std::string& sign, const std::string& label) {
    const int length = columns(label) + 5;
    if (used + length > width) text += '\n', used = 0;
    text += (used > 0 ? "   " : "") + sign + " " + label;
    used += length;
  };
  if (layout.has_gaps) entry(gap, "no value");
  for (const CellLabel& boundary : layout.x_boundaries) entry("┆", boundary.text);
  for (const CellLabel& boundary : layout.y_boundaries) entry("┄", boundary.text);
  return text + '\n';
}

std::string heat_row(const HeatLayout& layout, Index row, const CellStyle& style) {
  std::string text;
  for (Index column = 0; column <= layout.columns; ++column) {
    if (has_boundary(layout.x_boundaries, column)) text += "┆";
    if (column < layout.columns) text += cell_text(layout, layout.cell(row, column), style);
  }
  return text;
}

std::string heat_x_axis(const HeatMap& map, const HeatLayout& layout, int indent, int plot_width, int cell_width) {
  std::vector<const char*> line(static_cast<std::size_t>(plot_width), "─");
  std::string labels;
  for (const CellLabel& tick : layout.x_ticks) {
    const int column = std::min(offset_of(layout, tick.at, cell_width), plot_width - 1);
    const int length = columns(tick.text), end = indent + column + (length + 1) / 2;
    line[static_cast<std::size_t>(column)] = "┬";
    const bool has_room = end - length > columns(labels) && end <= indent + plot_width + 2;
    if (has_room) labels += fmt::format("{:>{}}", tick.text, end - columns(labels));
  }
  std::string text = fmt::format("{:>{}}", "└", indent);
  for (const char* piece : line) text += piece;
  text += '\n' + labels + '\n';
  for (const std::string& words : wrap(axis_text(map.x), indent + plot_width)) {
    text += fmt::format("{:>{}}\n", words, std::max(columns(words), indent + (plot_width + columns(words)) / 2));
  }
  return text;
}

}  // namespace

std::string to_text(const HeatMap& map, bool color, int width, Where where) {
  width = std::clamp(width, 40, 100);
  int most_label = 8;  // columns kept for the labels of the rows
  for (const std::string& name : map.y_names) most_label = std::max(most_label, columns(name));
  const int boundaries = static_cast<int>(map.boundaries.size());
  const int room = std::max(8, width - most_label - 4 - boundaries);
  HeatLayout layout = lay_out(map, {32, room, std::max(2, width / 10), 8}, where);
  const int C = static_cast<int>(std::max<Index>(layout.columns, 1));
  layout.numbered = layout.numbered && C * number_width <= room;
  const CellStyle style{layout.numbered ? number_width : 2 * C <= room ? 2 : 1, color};
  int label_width = 0;
  std::vector<std::string> labels(static_cast<std::size_t>(layout.rows));
  for (const CellLabel& tick : layout.y_ticks) {
    labels[static_cast<std::size_t>(tick.at)] = tick.text;
    label_width = std::max(label_width, columns(tick.text));
  }
  const int indent = label_width + 2;
  const int plot_width = std::max(8, offset_of(layout, static_cast<double>(layout.columns), style.width));

  std::string text;
  for (const std::string& words : wrap(map.title, width)) text += words + '\n';
  text += heat_legend(map, layout, color, width);
  for (const std::string& words : wrap(axis_text(map.y), width)) text += words + '\n';
  for (Index row = 0; row <= layout.rows; ++row) {
    if (has_boundary(layout.y_boundaries, row)) {
      text += fmt::format("{:>{}} │", "", label_width);
      for (int k = 0; k < plot_width; ++k) text += "┄";
      text += '\n';
    }
    if (row == layout.rows) break;
    const std::string& label = labels[static_cast<std::size_t>(row)];
    text += fmt::format("{:>{}} {}{}\n", label, label_width, label.empty() ? "│" : "┤", heat_row(layout, row, style));
  }
  return text + heat_x_axis(map, layout, indent, plot_width, style.width);
}

void print(const HeatMap& map, Where where) {
  fmt::print("{}", to_text(map, wants_color(stdout), std::min(80, terminal_width(stdout)), where));
}

}  // namespace segue
