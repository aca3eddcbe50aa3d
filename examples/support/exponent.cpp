#include "examples/support/exponent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace segue {

double fitted_exponent(const std::vector<double>& x, const std::vector<double>& y) {
  double n = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double log_x = std::log(x[i]), log_y = std::log(y[i]);
    if (!std::isfinite(log_x) || !std::isfinite(log_y)) continue;
    n += 1, sum_x += log_x, sum_y += log_y, sum_xx += log_x * log_x, sum_xy += log_x * log_y;
    least = std::min(least, log_x), largest = std::max(largest, log_x);
  }
  if (!(least < largest)) return std::nan("");
  return (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
}

}  // namespace segue
