// SVG of a heat map: colours that grow darker with the value, their bar and all labels outside of the data, lines only
// between cells.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "examples/support/chart_layout.hpp"
#include "examples/support/heat_map_layout.hpp"
#include "examples/support/output.hpp"
#include "examples/support/svg.hpp"

namespace segue {

namespace {

constexpr double bar_width = 16, least_height = 150, most_height = 420, most_cell = 56;

// Where the cells are.
struct Field {
  double left, top, cell_width, cell_height;
  Index rows, columns;
  double x(double cells) const { return left + cells * cell_width; }
  double y(double cells) const { return top + cells * cell_height; }
  double right() const { return x(static_cast<double>(columns)); }
  double bottom() const { return y(static_cast<double>(rows)); }
};

std::string hex(const Rgb& color) {
  return fmt::format("#{:02x}{:02x}{:02x}", std::lround(color.red), std::lround(color.green), std::lround(color.blue));
}

std::vector<std::string> texts_of(const std::vector<CellLabel>& labels) {
  std::vector<std::string> texts;
  for (const CellLabel& label : labels) texts.push_back(label.text);
  return texts;
}

// Gaps let the hatched ground show. Neighbours of one colour are one rectangle, which keeps the file short.
void draw_cells(Svg& svg, const HeatLayout& layout, const Field& field) {
  const auto color = [&](Index i, Index j) {
    const double value = layout.cell(i, j);
    return std::isnan(value) ? "" : hex(color_at(layout.scale.at(value)));
  };
  svg.add("<g shape-rendering=\"crispEdges\">");
  for (Index i = 0; i < layout.rows; ++i) {
    for (Index j = 0; j < layout.columns;) {
      const Index start = j;
      const std::string fill = color(i, start);
      while (j < layout.columns && color(i, j) == fill) ++j;
      if (fill.empty()) continue;
      svg.add("<path d=\"M{:.2f} {:.2f}H{:.2f}V{:.2f}H{:.2f}z\" fill=\"{}\"/>", field.x(static_cast<double>(start)),
              field.y(static_cast<double>(i)), field.x(static_cast<double>(j)), field.y(static_cast<double>(i + 1)),
              field.x(static_cast<double>(start)), fill);
    }
  }
  svg.add("</g>");
}

void draw_numbers(Svg& svg, const HeatLayout& layout, const Field& field) {
  for (Index i = 0; i < layout.rows; ++i) {
    for (Index j = 0; j < layout.columns; ++j) {
      const double value = layout.cell(i, j);
      if (std::isnan(value)) continue;
      const bool on_dark = lightness(color_at(layout.scale.at(value))) < 58;
      svg.text(field.x(static_cast<double>(j) + 0.5), field.y(static_cast<double>(i) + 0.5) + 4, "middle",
               cell_number(value, layout.scale), on_dark ? " font-size=\"12\" fill=\"#fff\"" : " font-size=\"12\"");
    }
  }
}

void draw_ground(Svg& svg, const HeatLayout& layout, const Field& field) {
  svg.add(
      "<pattern id=\"gap\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
      "<path d=\"M0 0V5\" stroke=\"#bbb\" stroke-width=\"1.6\"/></pattern>");
  if (layout.cells.empty()) return;
  svg.add("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" stroke=\"#444\"/>",
          field.left, field.top, field.right() - field.left, field.bottom() - field.top,
          layout.has_gaps ? "url(#gap)" : "none");
}

void draw_axes(Svg& svg, const HeatMap& map, const HeatLayout& layout, const Field& field) {
  const char* const dark = "stroke=\"#444\"";
  for (const CellLabel& tick : layout.x_ticks) {
    svg.line(field.x(tick.at), field.bottom(), field.x(tick.at), field.bottom() + 5, dark);
    svg.text(field.x(tick.at), field.bottom() + 20, "middle", tick.text);
  }
  for (const CellLabel& tick : layout.y_ticks) {
    svg.line(field.left - 5, field.y(tick.at), field.left, field.y(tick.at), dark);
    svg.text(field.left - 9, field.y(tick.at) + 4.5, "end", tick.text);
  }
  svg.text((field.left + field.right()) / 2, field.bottom() + 44, "middle", axis_text(map.x));
  svg.sideways(svg_margin + 8, (field.top + field.bottom()) / 2, axis_text(map.y));
}

// A dark line in a light one, to be seen on every colour; the labels stand above the cells or right of them.
void draw_boundaries(Svg& svg, const HeatLayout& layout, const Field& field) {
  const char* const light = "stroke=\"#fff\" stroke-width=\"2.6\"";
  const char* const dark = "stroke=\"#222\" stroke-width=\"1.2\" stroke-dasharray=\"5 3\"";
  double label_y = field.top - 8, free_x = 0;
  for (const CellLabel& boundary : layout.x_boundaries) {
    const double x = field.x(boundary.at), half = text_width(boundary.text) / 2;
    const double middle = std::clamp(x, svg_margin + half, std::max(svg_margin + half, svg_width - svg_margin - half));
    label_y = middle - half < free_x ? label_y - 17 : field.top - 8;  // above the one to the left where they would meet
    free_x = std::max(free_x, middle + half + 8);
    svg.line(x, field.top, x, field.bottom(), light);
    svg.line(x, label_y + 3, x, field.bottom(), dark);
    svg.text(middle, label_y, "middle", boundary.text);
  }
  double free_y = 0;
  for (const CellLabel& boundary : layout.y_boundaries) {
    const double y = field.y(boundary.at);
    svg.line(field.left, y, field.right(), y, light);
    svg.line(field.left, y, field.right() + 4, y, dark);
    svg.text(field.right() + 7, std::max(y, free_y) + 4.5, "start", boundary.text);
    free_y = std::max(y, free_y) + 16;
  }
}

// The colours beside their values.
void draw_bar(Svg& svg, const HeatMap& map, const HeatLayout& layout, double left, double top, double bottom) {
  constexpr int steps = 64;
  const double height = bottom - top;
  svg.add("<g shape-rendering=\"crispEdges\">");
  for (int k = 0; k < steps; ++k) {
    svg.add("<path d=\"M{:.1f} {:.2f}h{:.1f}V{:.2f}h-{:.1f}z\" fill=\"{}\"/>", left, bottom - k * height / steps,
            bar_width, bottom - (k + 1) * height / steps, bar_width, hex(color_at((k + 0.5) / steps)));
  }
  svg.add("</g>\n<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" stroke=\"#444\"/>",
          left, top, bar_width, height);
  const double right = left + bar_width;
  for (std::size_t i = 0; i < layout.scale.ticks.size(); ++i) {
    const double y = bottom - layout.scale.at(layout.scale.ticks[i]) * height;
    svg.line(right, y, right + 4, y, "stroke=\"#444\"");
    svg.text(right + 8, y + 4.5, "start", layout.scale.labels[i]);
  }
  svg.sideways(right + 8 + widest_text(layout.scale.labels) + 14, (top + bottom) / 2, axis_text(map.value));
  if (!layout.has_gaps) return;
  svg.add("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"14\" fill=\"url(#gap)\" stroke=\"#444\"/>", left,
          bottom + 10, bar_width);
  svg.text(right + 8, bottom + 21.5, "start", "no value");
}

}  // namespace

std::string to_svg(const HeatMap& map, Where where) {
  const HeatLayout layout = lay_out(map, {256, 256, 10, 8}, where);
  Svg svg;
  const double title_bottom = svg.title(map.title);
  const double labels_above = 17 * static_cast<double>(layout.x_boundaries.size());
  const double side_labels = layout.y_boundaries.empty() ? 0 : widest_text(texts_of(layout.y_boundaries)) + 10;
  const double bar_labels =
      std::max(widest_text(layout.scale.labels) + 20, layout.has_gaps ? text_width("no value") : 0);
  const double left = svg_margin + 22 + widest_text(texts_of(layout.y_ticks)) + 8;
  const double room = svg_width - svg_margin - bar_labels - 8 - bar_width - 20 - side_labels - left;
  const double rows = static_cast<double>(std::max<Index>(layout.rows, 1));
  const double cell_width = std::min(most_cell, room / static_cast<double>(std::max<Index>(layout.columns, 1)));
  const double least_cell =
      std::max(layout.numbered ? 22.0 : 0.0, std::max(least_height, text_width(axis_text(map.y))) / rows);
  const double cell_height =
      std::clamp(cell_width, std::min(least_cell, most_cell), std::max(least_cell, most_height / rows));
  const Field field{left, title_bottom + 12 + labels_above, cell_width, cell_height, layout.rows, layout.columns};

  draw_ground(svg, layout, field);
  draw_cells(svg, layout, field);
  if (layout.numbered) draw_numbers(svg, layout, field);
  draw_axes(svg, map, layout, field);
  draw_boundaries(svg, layout, field);
  const double bar_bottom = std::max(field.bottom(), field.top + 80);  // room for the labels of the bar
  draw_bar(svg, map, layout, field.right() + 20 + side_labels, field.top, bar_bottom);
  return svg.document(map.title, map.description, std::max(field.bottom(), bar_bottom - 20) + 60);
}

void write_svg(const std::filesystem::path& path, const HeatMap& map, Where where) {
  write_text_file(path, to_svg(map, where), where);
}

}  // namespace segue
