#include "autograd/tools/gradient_check.hpp"

#include <algorithm>
#include <cmath>

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
  backward(f(variables), Graph::release, where);

  GradientCheck worst;
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
      const double numeric = (above - below) / (2 * h),
                   analytic = static_cast<double>(dx.data()[e]);
      const double size = std::max({1.0, std::abs(analytic), std::abs(numeric)});
      const double error = std::abs(analytic - numeric) / size;
      // NaN counts as the worst, and stays it.
      if (!std::isnan(worst.error) && !(error <= worst.error))
        worst = {error, i, e, analytic, numeric};
    }
  }
  return worst;
}

}  // namespace segue
