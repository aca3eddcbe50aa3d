#include "tests/benchmarks/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "tensor/error.hpp"

namespace segue {

double quantile(std::vector<double> values, double q) {
  if (values.empty()) throw ValueError("quantile: there are no values");
  std::sort(values.begin(), values.end());
  const double place = q * static_cast<double>(values.size() - 1), below = std::floor(place);
  const auto first = static_cast<std::size_t>(below);
  const std::size_t second = std::min(first + 1, values.size() - 1);
  return values[first] + (place - below) * (values[second] - values[first]);
}

double median(const std::vector<double>& values) { return quantile(values, 0.5); }

double spread(const std::vector<double>& values) { return quantile(values, 0.75) - quantile(values, 0.25); }

}  // namespace segue
