#include "examples/support/chart_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "examples/support/terminal.hpp"

namespace segue {

namespace {

constexpr double largest = 1e300;  // so that high - low is finite
constexpr double infinity = std::numeric_limits<double>::infinity();

// The least of 1, 2, 5, 10 times a power of ten that is not below `step`.
double nice_step(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (double factor : {1.0, 2.0, 5.0}) {
    if (step <= factor * power * (1 + 1e-9)) return factor * power;
  }
  return 10 * power;
}

// With the digits it takes to tell ticks `step` apart.
std::string tick_label(double tick, double step, double size) {
  if (tick == 0) return "0";
  const int step_digit = static_cast<int>(std::floor(std::log10(step) + 1e-9));
  const int first_digit = static_cast<int>(std::floor(std::log10(size) + 1e-9));
  const std::string label = size >= 1e6 || step_digit < -5
                                ? fmt::format("{:.{}e}", tick, std::max(0, first_digit - step_digit))
                                : fmt::format("{:.{}f}", tick, std::max(0, -step_digit));
  return label[0] == '-' ? "−" + label.substr(1) : label;
}

struct Range {
  double low = infinity, high = -infinity;
  void include(double value) {
    if (!is_drawable(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

std::size_t marker_stride(const Series& series) { return series.x.size() <= 32 ? 1 : series.x.size() / 12; }

}  // namespace

bool is_drawable(double value) { return std::abs(value) <= largest; }

AxisScale make_scale(double low, double high, int most_ticks, double least_step, bool widen) {
  AxisScale scale;
  if (low <= high) scale.low = low, scale.high = high;
  double size = std::max(std::abs(scale.low), std::abs(scale.high));
  if (scale.high - scale.low <= std::max(1e-9 * size, 1 / largest)) {
    const double room = size > 1e-290 ? 0.1 * size : 1;
    scale.low -= room, scale.high += room;
  }
  const double step = std::max(least_step, nice_step((scale.high - scale.low) / most_ticks));
  if (widen) {
    scale.low = std::floor(scale.low / step + 1e-9) * step;
    scale.high = std::ceil(scale.high / step - 1e-9) * step;
  }
  size = std::max(std::abs(scale.low), std::abs(scale.high));
  const double first = std::ceil(scale.low / step - 1e-9), last = std::floor(scale.high / step + 1e-9);
  for (double number = first; number <= last; ++number) {
    scale.ticks.push_back(number * step);
    scale.labels.push_back(tick_label(number * step, step, size));
  }
  return scale;
}

std::size_t Layout::name_number(const Series& series) const {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), series.name) - names.begin());
}

Layout lay_out(const Chart& chart, int x_ticks, int y_ticks, Where where) {
  Layout layout;
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
  layout.x = make_scale(x.low, x.high, x_ticks, whole ? 1 : 0, false);
  layout.y = make_scale(y.low, y.high, y_ticks, 0, true);
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
