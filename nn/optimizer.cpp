#include "nn/optimizer.hpp"

#include <cmath>

#include "nn/kernels/adam_update.hpp"
#include "tensor/elementwise.hpp"
#include "tensor/fail.hpp"
#include "tensor/kernels/math.hpp"
#include "tensor/kernels/rows.hpp"
#include "tensor/plain.hpp"

namespace segue {
namespace {

// Elements begin .. end - 1 of one parameter: Kingma and Ba's algorithm 1, with the decay of AdamW.
void adam_update(const AdamUpdate& u, Index begin, Index end) {
  const AdamFactors f = u.factors;  // a copy, so the compiler knows that no store changes it
  const Real* const g = u.gradient.data();
  Real *const x = u.x, *const m = u.m, *const v = u.v;
  for (Index i = begin; i < end; ++i) {
    m[i] = f.b1 * m[i] + (1 - f.b1) * g[i];
    v[i] = f.b2 * v[i] + (1 - f.b2) * g[i] * g[i];
    const Real update = m[i] * f.correction1 / (std::sqrt(v[i] * f.correction2) + f.tiny);
    x[i] -= f.learning_rate * (update + f.decay * x[i]);
  }
}

// The factors of a parameter's update number t = 1, 2, ..
AdamFactors factors_of(const AdamOptions& o, Index t, Real learning_rate) {
  const auto correction = [t](Real beta) {
    return 1 / static_cast<Real>(1 - math::pow(static_cast<double>(beta), static_cast<double>(t)));
  };
  return {o.beta1,   o.beta2,        correction(o.beta1), correction(o.beta2),
          o.epsilon, o.weight_decay, learning_rate};
}

}  // namespace

Adam::Adam(std::vector<Parameter> p, AdamOptions o, Where where)
    : parameters(unique_parameters(p)),
      options(o),
      first_moment(zeros_like(parameters)),
      second_moment(zeros_like(parameters)),
      missed(parameters.size(), 0) {
  const bool betas = o.beta1 >= 0 && o.beta1 < 1 && o.beta2 >= 0 && o.beta2 < 1;
  if (!betas || !(o.epsilon > 0) || !(o.weight_decay >= 0)) {
    fail<ValueError>(where,
                     "Adam: beta1 {} and beta2 {} must be in [0, 1), epsilon {} above 0, weight "
                     "decay {} not below 0",
                     o.beta1, o.beta2, o.epsilon, o.weight_decay);
  }
}

void Adam::step(Real learning_rate, Where where) {
  if (!(learning_rate >= 0) || !std::isfinite(learning_rate)) {
    fail<ValueError>(where, "Adam: the learning rate must be a finite number from 0 on, got {}",
                     learning_rate);
  }
  AdamUpdates updates;  // gathered first: what can run out of memory does so before any change
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    Variable& p = parameters[k].variable;
    if (!p.has_gradient()) continue;
    const Tensor gradient = p.gradient().contiguous();
    Tensor x = value_for_update(p);
    updates.push_back({gradient, x.data_in_place(), first_moment[k].data_in_place(),
                       second_moment[k].data_in_place(),
                       factors_of(options, steps + 1 - missed[k], learning_rate)});
  }
  if (plain()) {
    for (const AdamUpdate& u : updates) adam_update(u, 0, u.gradient.size());
  } else {
    share_adam_updates(updates, adam_update);
  }
  ++steps;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    if (!parameters[k].variable.has_gradient()) ++missed[k];
  }
}

Clipping clip_gradients(const std::vector<Parameter>& parameters, Real limit, Where where) {
  if (!(limit > 0)) fail<ValueError>(where, "the clipping limit must be above 0, got {}", limit);
  double squares = 0;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    if (!parameters[k].variable.has_gradient() || named_before(parameters, k)) continue;
    const Tensor gradient = parameters[k].variable.gradient().contiguous();
    const auto g = [x = gradient.data()](Index i) { return static_cast<double>(x[i]); };
    const auto squared = [g](Index i) { return g(i) * g(i); };
    squares += fold_row(gradient.size(), 0.0, squared, [](double a, double b) { return a + b; });
  }
  const double norm = std::sqrt(squares);
  if (!std::isfinite(norm)) return {norm, false};
  if (norm <= static_cast<double>(limit)) return {norm, true};
  const Real factor = static_cast<Real>(static_cast<double>(limit) / norm);
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    Variable p = parameters[k].variable;
    if (p.has_gradient() && !named_before(parameters, k))
      p.set_gradient(scale(p.gradient(), factor));
  }
  return {norm, true};
}

}  // namespace segue
