#include "examples/support/heat_map_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

namespace segue {

namespace {

constexpr Index most_numbered = 12;  // rows or columns

// The first of `most` ticks or fewer on `count` rows or columns, `stride` of which share a cell.
std::vector<CellLabel> cell_ticks(double first, Index count, Index stride, int most) {
  if (count == 0) return {};
  std::vector<CellLabel> ticks;
  const double last = first + static_cast<double>(count - 1);
  const AxisScale axis = make_scale(first, last, most, 1, false);
  for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
    if (axis.ticks[i] < first || axis.ticks[i] > last) continue;  // the room around a single row
    ticks.push_back({(axis.ticks[i] - first + 0.5) / static_cast<double>(stride), axis.labels[i]});
  }
  return ticks;
}

// One tick for each cell, with the name of its first row or column.
std::vector<CellLabel> named_ticks(const std::vector<std::string>& names, Index count, Index stride, Where where) {
  if (static_cast<Index>(names.size()) != count) {
    throw ShapeError(located(
        fmt::format("heat map: {} names for {} rows or columns, expected as many", names.size(), count), where));
  }
  std::vector<CellLabel> ticks;
  for (Index k = 0; k < count; k += stride) {
    ticks.push_back({static_cast<double>(k / stride) + 0.5, names[static_cast<std::size_t>(k)]});
  }
  return ticks;
}

std::vector<CellLabel> cell_boundaries(const HeatMap& map, bool vertical, Index stride, Index cells) {
  std::vector<CellLabel> found;
  for (const Reference& boundary : map.boundaries) {
    if (boundary.vertical != vertical || !is_drawable(boundary.value)) continue;
    const double at = (boundary.value - (vertical ? map.first_x : map.first_y)) / static_cast<double>(stride);
    if (at < 0 || at > static_cast<double>(cells)) continue;
    found.push_back({std::round(at), boundary.label});
  }
  std::sort(found.begin(), found.end(),
            [](const CellLabel& a, const CellLabel& b) { return std::tie(a.at, a.text) < std::tie(b.at, b.text); });
  return found;
}

// The mean of what is finite in a block of the matrix; NaN when nothing is.
double block_mean(const std::vector<Real>& values, Index columns, Index top, Index bottom, Index left, Index right) {
  double total = 0, count = 0;
  for (Index i = top; i < bottom; ++i) {
    for (Index j = left; j < right; ++j) {
      const double value = static_cast<double>(values[static_cast<std::size_t>(i * columns + j)]);
      if (is_drawable(value)) total += value, ++count;
    }
  }
  return count > 0 ? total / count : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

HeatLayout lay_out(const HeatMap& map, const CellLimits& limits, Where where) {
  if (map.values.rank() != 2) {
    throw ShapeError(
        located(fmt::format("heat map: values with {} axes, expected [rows, columns]", map.values.rank()), where));
  }
  const Index R = map.values.dim(0), C = map.values.dim(1);
  const Index down = std::max<Index>(1, (R + limits.rows - 1) / limits.rows);  // rows that share a cell
  const Index across = std::max<Index>(1, (C + limits.columns - 1) / limits.columns);
  HeatLayout layout;
  layout.rows = (R + down - 1) / down;
  layout.columns = (C + across - 1) / across;
  const std::vector<Real> values = map.values.to_vector();
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (Index i = 0; i < layout.rows; ++i) {
    for (Index j = 0; j < layout.columns; ++j) {
      const double mean =
          block_mean(values, C, i * down, std::min(R, (i + 1) * down), j * across, std::min(C, (j + 1) * across));
      layout.cells.push_back(mean);
      if (std::isnan(mean)) layout.has_gaps = true;
      if (!std::isnan(mean)) low = std::min(low, mean), high = std::max(high, mean);
    }
  }
  layout.scale = make_scale(low, high, 5, 0, true);
  layout.x_ticks = map.x_names.empty() ? cell_ticks(map.first_x, C, across, limits.x_ticks)
                                       : named_ticks(map.x_names, C, across, where);
  layout.y_ticks =
      map.y_names.empty() ? cell_ticks(map.first_y, R, down, limits.y_ticks) : named_ticks(map.y_names, R, down, where);
  layout.x_boundaries = cell_boundaries(map, true, across, layout.columns);
  layout.y_boundaries = cell_boundaries(map, false, down, layout.rows);
  const double size = std::max(std::abs(layout.scale.low), std::abs(layout.scale.high));
  layout.numbered = std::max(R, C) <= most_numbered && size >= 0.1 && size < 10000;
  return layout;
}

std::string cell_number(double value, const AxisScale& scale) {
  const double size = std::max(std::abs(scale.low), std::abs(scale.high));
  const std::string number = fmt::format("{:.{}f}", value, size < 10 ? 2 : size < 100 ? 1 : 0);
  return number[0] == '-' ? "−" + number.substr(1) : number;
}

Rgb color_at(double share) {
  constexpr std::array<Rgb, 5> stops{
      {{255, 248, 224}, {245, 180, 84}, {218, 100, 62}, {138, 42, 96}, {29, 17, 71}}};  // about equal steps of L*
  const double place = std::clamp(share, 0.0, 1.0) * (stops.size() - 1);
  const std::size_t stop = std::min(static_cast<std::size_t>(place), stops.size() - 2);
  const double part = place - static_cast<double>(stop);
  const auto mix = [part](double from, double to) { return from + part * (to - from); };
  const Rgb &from = stops[stop], &to = stops[stop + 1];
  return {mix(from.red, to.red), mix(from.green, to.green), mix(from.blue, to.blue)};
}

double lightness(const Rgb& color) {
  const auto linear = [](double channel) {
    const double c = channel / 255;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  const double Y = 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue);
  return Y <= 0.008856 ? 903.3 * Y : 116 * std::cbrt(Y) - 16;
}

}  // namespace segue
