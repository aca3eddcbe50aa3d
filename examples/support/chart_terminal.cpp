// Charts as lines of text.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "examples/support/chart_layout.hpp"
#include "examples/support/terminal.hpp"

namespace segue {

namespace {

constexpr int plot_rows = 19;
constexpr std::array filled{"●", "■", "▲", "◆", "▼", "★"};
constexpr std::array hollow{"○", "□", "△", "◇", "▽", "☆"};
constexpr std::array both{"◉", "▣", "◬", "◈", "▼", "★"};  // a measured point right on its theory
constexpr std::array colors{33, 167, 178, 35, 134, 244};  // of the 256 of a terminal, readable on black and on white

const char* glyph(const std::array<const char*, 6>& glyphs, std::size_t name) { return glyphs[name % glyphs.size()]; }
int color_of(std::size_t name) { return colors[(name + name / colors.size()) % colors.size()]; }
std::string paint(const std::string& text, int color) {
  return color == 0 ? text : fmt::format("\x1b[38;5;{}m{}\x1b[0m", color, text);
}

// The characters of the plot, row 0 on top.
class Canvas {
 public:
  explicit Canvas(int width) : width_(width), cells_(static_cast<std::size_t>(width * plot_rows)) {}

  struct Place {
    std::string glyph = " ";
    int color = 0;
  };
  Place& at(int row, int column) {
    row = std::clamp(row, 0, plot_rows - 1), column = std::clamp(column, 0, width_ - 1);
    return cells_[static_cast<std::size_t>(row * width_ + column)];
  }
  std::string row(int row, bool color) {
    std::string text;
    for (int column = 0; column < width_; ++column) {
      text += paint(at(row, column).glyph, color ? at(row, column).color : 0);
    }
    return text;
  }
  int column_of(double share) const { return static_cast<int>(std::lround(share * (width_ - 1))); }
  static int row_of(double share) { return static_cast<int>(std::lround((1 - share) * (plot_rows - 1))); }

 private:
  int width_;
  std::vector<Place> cells_;
};

void draw_references(Canvas& canvas, const Chart& chart, const Layout& layout, int width) {
  for (const Reference& reference : chart.references) {
    if (!is_drawable(reference.value)) continue;
    for (int i = 0; i < (reference.vertical ? plot_rows : width); ++i) {
      if (reference.vertical) canvas.at(i, canvas.column_of(layout.x.at(reference.value))).glyph = "┆";
      if (!reference.vertical) canvas.at(Canvas::row_of(layout.y.at(reference.value)), i).glyph = "┄";
    }
  }
}

struct Position {
  double x, y;  // both 0 .. 1
};

void draw_dots(Canvas& canvas, Position from, Position to, int color) {
  const int dots = 2 * (std::abs(canvas.column_of(to.x) - canvas.column_of(from.x)) +
                        std::abs(Canvas::row_of(to.y) - Canvas::row_of(from.y)) + 1);
  for (int k = 0; k <= dots; ++k) {
    const double share = static_cast<double>(k) / dots;
    const int column = canvas.column_of(from.x + share * (to.x - from.x));
    canvas.at(Canvas::row_of(from.y + share * (to.y - from.y)), column) = {"·", color};
  }
}

// From point i to the next.
void draw_segment(Canvas& canvas, const Layout& layout, const Series& series, std::size_t i) {
  const Position from{layout.x.at(series.x[i]), layout.y.at(series.y[i])};
  const Position to{layout.x.at(series.x[i + 1]), layout.y.at(series.y[i + 1])};
  const double x = (from.x + to.x) / 2;
  const int color = color_of(layout.name_number(series));
  if (!series.steps) return draw_dots(canvas, from, to, color);
  draw_dots(canvas, from, {x, from.y}, color);
  draw_dots(canvas, {x, from.y}, {x, to.y}, color);
  draw_dots(canvas, {x, to.y}, to, color);
}

void draw_series(Canvas& canvas, const Chart& chart, const Layout& layout) {
  const double near = (layout.y.high - layout.y.low) / (2 * plot_rows);
  for (const Series* series : drawing_order(chart)) {
    for (std::size_t i = 0; i + 1 < series->x.size(); ++i) {
      if (has_turn(chart, *series, i, i + 1, near)) draw_segment(canvas, layout, *series, i);
    }
  }
  for (const Series* series : drawing_order(chart)) {
    const std::size_t name = layout.name_number(*series);
    for (std::size_t i = 0; i < series->x.size(); ++i) {
      if (!is_marked(layout, *series, i) || !has_turn(chart, *series, i, i, near)) continue;
      Canvas::Place& place =
          canvas.at(Canvas::row_of(layout.y.at(series->y[i])), canvas.column_of(layout.x.at(series->x[i])));
      const bool on_theory = place.glyph == glyph(hollow, name) || place.glyph == glyph(both, name);
      place = {glyph(series->kind == Kind::theory ? hollow : on_theory ? both : filled, name), color_of(name)};
    }
  }
}

std::string legend(const Chart& chart, const Layout& layout, bool color, int width) {
  std::string text;
  int used = 0;
  const auto entry = [&](const std::string& sign, const std::string& label, int sign_color) {
    const int length = columns(sign) + columns(label) + 4;
    if (used > 0 && used + length > width) text += '\n', used = 0;
    text += paint(sign, color ? sign_color : 0) + " " + label + "   ";
    used += length;
  };
  for (std::size_t name = 0; name < layout.names.size(); ++name) {
    if (layout.names.size() == 1 && layout.names[0].empty()) break;
    entry(glyph(layout.kind_of(name) == Kind::measured ? filled : hollow, name), layout.names[name], color_of(name));
  }
  if (layout.has_measured && layout.has_theory) {
    entry("●", "measured", 0);
    entry("○", "theory", 0);
    entry("◉", "both", 0);
  }
  for (const Reference& reference : chart.references) entry(reference.vertical ? "┆" : "┄", reference.label, 0);
  return text.empty() ? "" : text + '\n';
}

int widest(const std::vector<std::string>& labels) {
  int most = 0;
  for (const std::string& label : labels) most = std::max(most, columns(label));
  return most;
}

// The line under the plot, its labels, and the title of the axis; `indent` columns stand left of the plot.
std::string x_axis(const Chart& chart, const AxisScale& x, int indent, int width) {
  std::vector<const char*> line(static_cast<std::size_t>(width), "─");
  std::string labels;
  for (std::size_t i = 0; i < x.ticks.size(); ++i) {
    const int column = static_cast<int>(std::lround(x.at(x.ticks[i]) * (width - 1)));
    const int length = columns(x.labels[i]), end = indent + column + (length + 1) / 2;
    line[static_cast<std::size_t>(column)] = "┬";
    const bool has_room = end - length > columns(labels) && end <= indent + width + 2;
    if (has_room) labels += fmt::format("{:>{}}", x.labels[i], end - columns(labels));
  }
  const std::string title = axis_text(chart.x);
  std::string text = fmt::format("{:>{}}", "└", indent);
  for (const char* piece : line) text += piece;
  return text + fmt::format("\n{}\n{:>{}}\n", labels, title, indent + (width + columns(title)) / 2);
}

}  // namespace

std::string to_text(const Chart& original, bool color, int width, Where where) {
  width = std::clamp(width, 40, 100);
  const Layout layout = lay_out(original, std::max(2, width / 10), 6, where);
  const Chart& chart = layout.chart;
  const int label_width = widest(layout.y.labels), indent = label_width + 2, plot_width = width - indent - 2;
  Canvas canvas(plot_width);
  draw_references(canvas, chart, layout, plot_width);
  draw_series(canvas, chart, layout);

  std::vector<std::string> labels(plot_rows);
  for (std::size_t i = 0; i < layout.y.ticks.size(); ++i) {
    labels[static_cast<std::size_t>(Canvas::row_of(layout.y.at(layout.y.ticks[i])))] = layout.y.labels[i];
  }
  std::string text;
  for (const std::string& line : wrap(chart.title, width)) text += line + '\n';
  text += legend(chart, layout, color, width) + axis_text(chart.y) + '\n';
  for (int row = 0; row < plot_rows; ++row) {
    const std::string& label = labels[static_cast<std::size_t>(row)];
    text += fmt::format("{:>{}} {}{}\n", label, label_width, label.empty() ? "│" : "┤", canvas.row(row, color));
  }
  return text + x_axis(chart, layout.x, indent, plot_width);
}

void print(const Chart& chart, Where where) {
  fmt::print("{}", to_text(chart, wants_color(stdout), std::min(80, terminal_width(stdout)), where));
}

}  // namespace segue
