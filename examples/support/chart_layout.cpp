#include "examples/support/chart_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "examples/support/terminal.hpp"

namespace segue {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Range {
  double low = infinity, high = -infinity;
  void include(double value) {
    if (!is_drawable(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// All x values, or all y values, of series and references.
std::vector<double*> values_on_axis(Chart& chart, bool is_x) {
  std::vector<double*> values;
  for (Series& series : chart.series) {
    for (double& value : is_x ? series.x : series.y) values.push_back(&value);
  }
  for (Reference& reference : chart.references) {
    if (reference.vertical == is_x) values.push_back(&reference.value);
  }
  return values;
}

// Puts logarithms in the place of values and returns their axis. 0, which has none, goes one tick below all others.
AxisScale take_logarithms(const std::vector<double*>& values, int most_ticks, double least_step, bool widen) {
  Range range;
  for (const double* value : values) range.include(std::log10(*value));  // below 0 not a number, and so a gap
  AxisScale scale = make_logarithmic_scale(range.low, range.high, most_ticks, least_step, widen);
  const double zero = scale.low - (scale.ticks.size() > 1 ? scale.ticks[1] - scale.ticks[0] : 1);
  if (std::any_of(values.begin(), values.end(), [](const double* value) { return *value == 0; })) {
    scale.low = zero;
    scale.ticks.insert(scale.ticks.begin(), zero);
    scale.labels.insert(scale.labels.begin(), "0");
  }
  for (double* value : values) *value = *value == 0 ? zero : std::log10(*value);
  return scale;
}

// Names at 1, 2, .., with half a step of room at both ends.
AxisScale scale_of_names(const std::vector<std::string>& names, const Range& values) {
  AxisScale scale = {
      std::min(0.5, values.low), std::max(static_cast<double>(names.size()) + 0.5, values.high), {}, names};
  for (std::size_t i = 0; i < names.size(); ++i) scale.ticks.push_back(static_cast<double>(i) + 1);
  return scale;
}

std::size_t marker_stride(const Series& series) { return series.x.size() <= 32 ? 1 : series.x.size() / 12; }

}  // namespace

std::size_t Layout::name_number(const Series& series) const {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), series.name) - names.begin());
}

Layout lay_out(const Chart& chart, int x_ticks, int y_ticks, Where where) {
  Layout layout;
  layout.chart = chart;
  Range x, y;
  bool whole = true;  // no ticks between whole numbers when x counts something
  for (const Series& series : chart.series) {
    if (series.x.size() != series.y.size()) {
      throw ValueError(located(fmt::format("chart: series \"{}\" has {} x values and {} y values, expected as many",
                                           series.name, series.x.size(), series.y.size()),
                               where));
    }
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!is_point(series, i)) continue;
      x.include(series.x[i]);
      y.include(series.y[i]);
      whole = whole && series.x[i] == std::floor(series.x[i]);
    }
    const std::size_t name = layout.name_number(series);
    if (name == layout.names.size()) layout.names.push_back(series.name), layout.measured.push_back(false);
    if (series.kind == Kind::measured) layout.measured[name] = true;
    (series.kind == Kind::measured ? layout.has_measured : layout.has_theory) = true;
  }
  for (const Reference& reference : chart.references) (reference.vertical ? x : y).include(reference.value);
  const double least = whole ? 1 : 0;
  layout.x = !chart.x.names.empty() ? scale_of_names(chart.x.names, x)
             : chart.x.logarithmic  ? take_logarithms(values_on_axis(layout.chart, true), x_ticks, least, false)
                                    : make_scale(x.low, x.high, x_ticks, least, false);
  layout.y = !chart.y.names.empty() ? scale_of_names(chart.y.names, y)
             : chart.y.logarithmic  ? take_logarithms(values_on_axis(layout.chart, false), y_ticks, 0, true)
                                    : make_scale(y.low, y.high, y_ticks, 0, true);
  return layout;
}

std::vector<const Series*> drawing_order(const Chart& chart) {
  std::vector<const Series*> order;
  for (Kind kind : {Kind::theory, Kind::measured}) {
    for (const Series& series : chart.series) {
      if (series.kind == kind) order.push_back(&series);
    }
  }
  return order;
}

bool is_point(const Series& series, std::size_t i) {
  return i < series.x.size() && is_drawable(series.x[i]) && is_drawable(series.y[i]);
}

bool is_marked(const Layout& layout, const Series& series, std::size_t i) {
  if (!is_point(series, i)) return false;
  if (!is_point(series, i + 1) && (i == 0 || !is_point(series, i - 1))) return true;
  const std::size_t stride = marker_stride(series), shift = layout.name_number(series) * stride / layout.names.size();
  return i % stride == shift % stride;
}

bool has_turn(const Chart& chart, const Series& series, std::size_t i, std::size_t next, double near) {
  if (!is_point(series, i) || !is_point(series, next)) return false;
  std::vector<std::string> names;  // of what lies here
  for (const Series& other : chart.series) {
    const auto meets = [&](std::size_t k) {
      return is_point(other, k) && other.x[k] == series.x[k] && std::abs(other.y[k] - series.y[k]) <= near;
    };
    if (other.kind == series.kind && meets(i) && meets(next)) names.push_back(other.name);
  }
  return names[i / marker_stride(series) % names.size()] == series.name;
}

std::string axis_text(const AxisTitle& axis) {
  return axis.unit.empty() ? axis.title : fmt::format("{} ({})", axis.title, axis.unit);
}

std::vector<std::string> wrap(const std::string& text, int width) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (lines.empty() || columns(lines.back()) + 1 + columns(word) > width) {
      lines.push_back(word);
    } else {
      lines.back() += " " + word;
    }
  }
  return lines;
}

}  // namespace segue
