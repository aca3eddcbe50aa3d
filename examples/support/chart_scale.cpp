#include "examples/support/chart_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace segue {

namespace {

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

// "0.001", "20", "1e-5": the mantissa is 1, 2 or 5.
std::string power_label(int mantissa, int exponent) {
  if (exponent < -3 || exponent > 4) return fmt::format("{}e{}", mantissa, exponent);
  return fmt::format("{:.{}f}", mantissa * std::pow(10.0, exponent), std::max(0, -exponent));
}

constexpr double hair = 1e-9;  // what rounding may have moved an end

// Ticks at the given mantissas of every power of ten that `stride` divides.
AxisScale scale_of_powers(double low, double high, bool widen, const std::vector<int>& mantissas, int stride) {
  AxisScale all;
  for (double power = (std::floor(low / stride) - 1) * stride; power <= high + stride; power += stride) {
    for (const int mantissa : mantissas) {
      all.ticks.push_back(power + std::log10(mantissa));
      all.labels.push_back(power_label(mantissa, static_cast<int>(power)));
    }
  }
  AxisScale scale = {low, high, {}, {}};
  if (widen) {
    scale.low = *(std::upper_bound(all.ticks.begin(), all.ticks.end(), low + hair) - 1);
    scale.high = *std::lower_bound(all.ticks.begin(), all.ticks.end(), high - hair);
  }
  for (std::size_t i = 0; i < all.ticks.size(); ++i) {
    if (all.ticks[i] < scale.low - hair || all.ticks[i] > scale.high + hair) continue;
    scale.ticks.push_back(all.ticks[i]);
    scale.labels.push_back(all.labels[i]);
  }
  return scale;
}

}  // namespace

bool is_drawable(double value) { return std::abs(value) <= largest_drawable; }

AxisScale make_scale(double low, double high, int most_ticks, double least_step, bool widen) {
  AxisScale scale;
  if (low <= high) scale.low = low, scale.high = high;
  double size = std::max(std::abs(scale.low), std::abs(scale.high));
  if (scale.high - scale.low <= std::max(1e-9 * size, 1 / largest_drawable)) {
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

AxisScale make_logarithmic_scale(double low, double high, int most_ticks, double least_step, bool widen) {
  if (low > high) low = 0, high = 1;
  if (high - low < hair) low -= 0.5, high += 0.5;
  AxisScale scale = scale_of_powers(low, high, widen, {1, 2, 5}, 1);
  const double first = std::pow(10.0, low), last = std::pow(10.0, high);
  if (scale.ticks.size() < 3 && first > 1e-280 && last < largest_drawable) {
    scale = make_scale(first, last, most_ticks, least_step, widen);
    for (double& tick : scale.ticks) tick = std::log10(tick);
    scale.low = std::log10(scale.low), scale.high = std::log10(scale.high);
  }
  for (int stride = 1; static_cast<int>(scale.ticks.size()) > most_ticks + 1; ++stride) {
    scale = scale_of_powers(low, high, widen, {1}, stride);
  }
  return scale;
}

}  // namespace segue
