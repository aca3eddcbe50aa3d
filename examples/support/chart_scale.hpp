// Axes: which values they span, and where their ticks are. For the chart_*.cpp files.
#pragma once

#include <string>
#include <vector>

namespace segue {

inline constexpr double largest_drawable = 1e300;  // so that high - low is finite

/// False for NaN, infinity, and what is too large to compute with: gaps.
bool is_drawable(double value);

/// One axis.
struct AxisScale {
  double low = 0, high = 1;
  std::vector<double> ticks;
  std::vector<std::string> labels;
  /// Where on the axis: 0 at low, 1 at high.
  double at(double value) const { return (value - low) / (high - low); }
};

/// About `most_ticks` ticks at multiples of 1, 2 or 5 times a power of ten, at least `least_step` apart. `widen` moves
/// both ends out to a tick. An empty range (low > high) becomes 0 .. 1, and one of a single value gets room around it.
AxisScale make_scale(double low, double high, int most_ticks, double least_step, bool widen);

/// The same for an axis of logarithms, from the logarithms `low` and `high`: its ticks are at every power of ten, at
/// every few of them on a long axis, at 1, 2 and 5 times each on a short one, and as on a linear axis within one of
/// those.
AxisScale make_logarithmic_scale(double low, double high, int most_ticks, double least_step, bool widen);

}  // namespace segue
