// Whether two ways differ, or only their runs do: means of runs that differ in their seed, and how far to trust them.
#pragma once

#include <vector>

#include "tensor/real.hpp"

namespace segue {

struct Spread {
  Index runs = 0;
  double mean = 0;
  double deviation = 0;  // of the runs: sqrt(sum (x - mean)^2 / (runs - 1)), NaN for less than two
  double error = 0;      // of the mean, its standard error: deviation / sqrt(runs)
};
/// A value that is not finite makes all of it NaN, and so does an empty list.
Spread spread_of(const std::vector<double>& values);

/// a - b, with the standard error that the difference of two independent means has.
struct Difference {
  double value = 0, error = 0;
  /// Whether the means are more than `limit` standard errors apart. Of two ways that are alike in truth and have five
  /// runs each, about 2 pairs in 100 look different by the limit of 3 (Student's t with 8 degrees of freedom).
  bool is_beyond_spread(double limit = 3) const;
};
Difference difference(const Spread& a, const Spread& b);

}  // namespace segue
