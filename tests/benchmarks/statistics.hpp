// What many times of the same work say together.
#pragma once

#include <vector>

namespace segue {

/// The value below which the share `q` of the values lies, between two of them by linear interpolation: q = 0.5 is the
/// median, 0.25 and 0.75 are the quartiles. Throws ValueError for no values.
double quantile(std::vector<double> values, double q);
double median(const std::vector<double>& values);
/// The distance of the quartiles: half of the values lie in a range as wide as this. One wild run does not move it.
double spread(const std::vector<double>& values);

}  // namespace segue
