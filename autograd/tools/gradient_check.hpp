// Gradients held against central differences.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autograd/variable.hpp"

namespace segue {

/// The element in which backward and the difference quotient disagree most.
struct GradientCheck {
  double error = 0;  // |analytic - numeric|, as a share of the largest of all elements
  std::size_t input = 0;
  Index element = 0;
  double analytic = 0, numeric = 0;
};
/// "input 1, element 5: analytic 0.25, numeric 0.2501, error 1e-4".
std::string to_string(const GradientCheck& check);

/// Compares, for every element of every input, the gradient of `f` (a variable with one element)
/// with (f(x + h) - f(x - h)) / 2h. Errors are relative to the largest element, or to what rounding
/// lets a quotient tell where that is more: so the scale of f does not matter. `f` must compute the
/// same function every time; meaningful in the double build.
GradientCheck check_gradient(const std::function<Variable(const std::vector<Variable>&)>& f,
                             const std::vector<Tensor>& inputs, double h = 1e-5,
                             Where where = Where::current());

}  // namespace segue
