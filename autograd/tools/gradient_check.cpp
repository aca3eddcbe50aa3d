#include "autograd/tools/gradient_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/backward.hpp"
#include "tensor/fail.hpp"

namespace segue {

std::string to_string(const GradientCheck& check) {
  return fmt::format("input {}, element {}: analytic {}, numeric {}, error {:.3g}", check.input,
                     check.element, check.analytic, check.numeric, check.error);
}

GradientCheck check_gradient(const std::function<Variable(const std::vector<Variable>&)>& f,
                             const std::vector<Tensor>& inputs, double h, Where where) {
  std::vector<Variable> variables;
  for (const Tensor& input : inputs) variables.push_back(parameter(input.clone()));
  const Variable z = f(variables);
  const double value = std::abs(static_cast<double>(z.item(where)));
  backward(z, Graph::release, where);

  std::vector<GradientCheck> elements;
  const NoGradientGuard no_gradient;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    Tensor x = variables[i].value();  // shares its numbers with the variable
    const Tensor dx = variables[i].has_gradient() ? variables[i].gradient().contiguous()
                                                  : Tensor::zeros(x.shape());
    Real* element = x.data_in_place();
    for (Index e = 0; e < x.size(); ++e) {
      const Real before = element[e];
      element[e] = before + static_cast<Real>(h);
      const double above = static_cast<double>(f(variables).item(where));
      element[e] = before - static_cast<Real>(h);
      const double below = static_cast<double>(f(variables).item(where));
      element[e] = before;
      elements.push_back({0, i, e, static_cast<double>(dx.data()[e]), (above - below) / (2 * h)});
    }
  }

  // Differences of two values are exact to the rounding of these values only.
  const double rounding = static_cast<double>(std::numeric_limits<Real>::epsilon()) * value / h;
  double size = std::max(1e8 * rounding, std::numeric_limits<double>::min());
  for (const GradientCheck& e : elements) {
    size = std::max({size, std::abs(e.analytic), std::abs(e.numeric)});
  }
  GradientCheck worst;
  for (GradientCheck& e : elements) {
    e.error = std::abs(e.analytic - e.numeric) / size;
    // NaN counts as the worst, and stays it.
    if (!std::isnan(worst.error) && !(e.error <= worst.error)) worst = e;
  }
  return worst;
}

}  // namespace segue
