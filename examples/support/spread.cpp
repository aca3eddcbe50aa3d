#include "examples/support/spread.hpp"

#include <cmath>

namespace segue {

Spread spread_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double total = 0, squares = 0;
  for (const double value : values) total += value;
  const double mean = total / n;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / (n - 1));
  return {static_cast<Index>(values.size()), mean, deviation, deviation / std::sqrt(n)};
}

bool Difference::is_beyond_spread(double limit) const { return std::abs(value) > limit * error; }

Difference difference(const Spread& a, const Spread& b) {
  return {a.mean - b.mean, std::sqrt(a.error * a.error + b.error * b.error)};
}

}  // namespace segue
