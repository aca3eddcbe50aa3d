// How fast something grows, as the exponent of a power.
#pragma once

#include <vector>

namespace segue {

/// The p for which c x^p is nearest to y: the slope of the line of least squares through the points (log x, log y).
/// Points that are not above 0 and finite do not count; NaN for less than two different x. x and y are of one length.
double fitted_exponent(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace segue
