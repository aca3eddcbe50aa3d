// SVG as a book would print it: safe for colour-blind readers and grey print (colours differ in brightness, series also
// in their markers, theory in its dashes), text as text, and labels where they never cover data.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "examples/support/chart_layout.hpp"
#include "examples/support/output.hpp"
#include "examples/support/svg.hpp"

namespace segue {

namespace {

constexpr double width = svg_width, margin = svg_margin, plot_height = 300,
                 inset = 10;  // inset: keeps markers off the axes
constexpr std::array colors{"#004488", "#bb5566", "#ddaa33", "#228833", "#aa3377", "#555555"};

struct Box {
  double left, top, right, bottom;
};

const char* color_of(std::size_t name) { return colors[(name + name / colors.size()) % colors.size()]; }

void draw_marker(Svg& svg, std::size_t shape, Kind kind, const char* color, double x, double y) {
  // Around (0, 0), of about equal area.
  constexpr std::array shapes{"M-1 0a1 1 0 1 0 2 0a1 1 0 1 0-2 0z",
                              "M-.9-.9H.9V.9H-.9z",
                              "M0-1.4L1.2.7H-1.2z",
                              "M0-1.3L1.3 0 0 1.3-1.3 0z",
                              "M0 1.4L1.2-.7H-1.2z",
                              "M-.4-1.2H.4V-.4H1.2V.4H.4V1.2H-.4V.4H-1.2V-.4H-.4z"};
  const bool solid = kind == Kind::measured;
  const double radius = solid ? 4 : 6.4;  // a theory that holds is a ring around what was measured
  svg.add(
      "<path transform=\"translate({:.1f} {:.1f}) scale({})\" d=\"{}\" fill=\"{}\" stroke=\"{}\" "
      "stroke-width=\"{:.2f}\"/>",
      x, y, radius, shapes[shape % shapes.size()], solid ? color : "#fff", solid ? "#fff" : color,
      (solid ? 0.7 : 1.3) / radius);
}

const char* line_style(Kind kind) {
  return kind == Kind::measured ? "stroke-width=\"2\"" : "stroke-width=\"1.6\" stroke-dasharray=\"6 4\"";
}

// Colour and marker of each name; then, where both occur, what solid and dashed mean. Returns the y below.
double draw_legend(Svg& svg, const Layout& layout, double y) {
  double x = margin;
  const auto entry = [&](const std::string& label, auto draw) {
    const double entry_width = 43 + text_width(label) + 20;
    if (x > margin && x + entry_width > width - margin) x = margin, y += 21;
    draw(x + 18, y + 4);
    svg.text(x + 43, y + 8.5, "start", label);
    x += entry_width;
  };
  const auto sample = [&](std::size_t shape, Kind kind, const char* color) {
    return [&svg, shape, kind, color](double at_x, double at_y) {
      svg.add("<path d=\"M{:.1f} {:.1f}h36\" stroke=\"{}\" {}/>", at_x - 18, at_y, color, line_style(kind));
      draw_marker(svg, shape, kind, color, at_x, at_y);
    };
  };
  for (std::size_t name = 0; name < layout.names.size(); ++name) {
    if (layout.names.size() == 1 && layout.names[0].empty()) break;
    entry(layout.names[name], sample(name, layout.kind_of(name), color_of(name)));
  }
  if (layout.has_measured && layout.has_theory) {
    entry("measured", sample(0, Kind::measured, "#777"));
    entry("theory", sample(0, Kind::theory, "#777"));
  }
  return x > margin ? y + 22 : y;
}

void draw_axes(Svg& svg, const Box& box, const AxisScale& x, const AxisScale& y, auto to_x, auto to_y) {
  const char* const light = "stroke=\"#e4e4e4\"";
  const char* const dark = "stroke=\"#444\"";
  for (std::size_t i = 0; i < x.ticks.size(); ++i) {
    const double at = to_x(x.ticks[i]);
    svg.line(at, box.top, at, box.bottom, light);
    svg.line(at, box.bottom, at, box.bottom + 5, dark);
    svg.text(at, box.bottom + 20, "middle", x.labels[i]);
  }
  for (std::size_t i = 0; i < y.ticks.size(); ++i) {
    const double at = to_y(y.ticks[i]);
    svg.line(box.left, at, box.right, at, light);
    svg.line(box.left - 5, at, box.left, at, dark);
    svg.text(box.left - 9, at + 4.5, "end", y.labels[i]);
  }
  svg.line(box.left, box.top, box.left, box.bottom, dark);
  svg.line(box.left, box.bottom, box.right, box.bottom, dark);
}

// Labels stand outside the plot, right of it or above, and move apart where they would touch.
void draw_references(Svg& svg, const Chart& chart, const Box& box, auto to_x, auto to_y) {
  const char* const style = "stroke=\"#222\" stroke-dasharray=\"1.5 3\"";
  std::vector<Reference> references;
  std::copy_if(chart.references.begin(), chart.references.end(), std::back_inserter(references),
               [](const Reference& reference) { return is_drawable(reference.value); });
  std::sort(references.begin(), references.end(),
            [](const Reference& a, const Reference& b) { return a.value > b.value; });
  double free_y = 0, row_y = box.top - 6 + 17, free_x = 0;
  for (const Reference& reference : references) {
    if (reference.vertical) {
      const double x = to_x(reference.value), end = x + 5 + text_width(reference.label);
      row_y = end < free_x ? box.top - 6 : row_y - 17;  // beside the label to the right, else above it
      free_x = x;
      svg.line(x, row_y - 11, x, box.bottom, style);
      const bool fits = end < width;
      svg.text(fits ? x + 5 : x - 5, row_y, fits ? "start" : "end", reference.label);
    } else {
      const double y = to_y(reference.value);
      svg.line(box.left, y, box.right, y, style);
      const double label_y = std::max(y, free_y);
      svg.text(box.right + 6, label_y + 4.5, "start", reference.label);
      free_y = label_y + 16;
    }
  }
}

void draw_line(Svg& svg, const Chart& chart, const Series& series, const char* color, double near, auto to_x,
               auto to_y) {
  std::string path;
  bool joined = false;
  for (std::size_t i = 0; i + 1 < series.x.size(); ++i) {
    const bool drawn = has_turn(chart, series, i, i + 1, near);
    if (drawn) {
      const double x0 = to_x(series.x[i]), y0 = to_y(series.y[i]), x1 = to_x(series.x[i + 1]),
                   y1 = to_y(series.y[i + 1]);
      if (!joined) path += fmt::format("M{:.1f} {:.1f}", x0, y0);
      if (series.steps) path += fmt::format("H{:.1f}V{:.1f}H{:.1f}", (x0 + x1) / 2, y1, x1);
      if (!series.steps) path += fmt::format("L{:.1f} {:.1f}", x1, y1);
    }
    joined = drawn;
  }
  if (path.empty()) return;
  svg.add("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-linejoin=\"round\" {}/>", path, color,
          line_style(series.kind));
}

}  // namespace

std::string to_svg(const Chart& original, Where where) {
  const Layout layout = lay_out(original, 10, 6, where);
  const Chart& chart = layout.chart;
  Svg svg;
  double top = draw_legend(svg, layout, svg.title(chart.title)) + 8;
  double right = margin;
  for (const Reference& reference : chart.references) {
    if (reference.vertical) top += 17;
    if (!reference.vertical) right = std::max(right, text_width(reference.label) + 16);
  }
  const Box box{margin + 22 + widest_text(layout.y.labels) + 8, top, width - right, top + plot_height};
  const auto to_x = [&](double x) { return box.left + inset + layout.x.at(x) * (box.right - box.left - 2 * inset); };
  const auto to_y = [&](double y) { return box.bottom - inset - layout.y.at(y) * (plot_height - 2 * inset); };
  draw_axes(svg, box, layout.x, layout.y, to_x, to_y);
  svg.text((box.left + box.right) / 2, box.bottom + 44, "middle", axis_text(chart.x));
  svg.sideways(margin + 8, (box.top + box.bottom) / 2, axis_text(chart.y));
  draw_references(svg, chart, box, to_x, to_y);

  const double pixel = (layout.y.high - layout.y.low) / plot_height;
  bool alternate = false;
  for (const Series* series : drawing_order(chart)) {
    const std::size_t name = layout.name_number(*series);
    draw_line(svg, chart, *series, color_of(name), 1.5 * pixel, to_x, to_y);
    for (std::size_t i = 0; i < series->x.size(); ++i) {
      if (!is_marked(layout, *series, i)) continue;
      if (has_turn(chart, *series, i, i, 4 * pixel)) {
        draw_marker(svg, name, series->kind, color_of(name), to_x(series->x[i]), to_y(series->y[i]));
      } else {
        alternate = true;
      }
    }
  }
  if (alternate) {
    svg.text(width - margin, box.bottom + 44, "end", "lines that coincide alternate",
             " font-size=\"11\" fill=\"#555\" font-style=\"italic\"");
  }
  return svg.document(chart.title, chart.description, box.bottom + 60);
}

void write_svg(const std::filesystem::path& path, const Chart& chart, Where where) {
  write_text_file(path, to_svg(chart, where), where);
}

}  // namespace segue
