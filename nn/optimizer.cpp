#include "nn/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "tensor/elementwise.hpp"
#include "tensor/fail.hpp"
#include "tensor/map.hpp"
#include "tensor/math.hpp"
#include "tensor/rows.hpp"

namespace segue {
namespace {

// Keeps the first of several handles to one parameter.
std::vector<Parameter> without_repeats(const std::vector<Parameter>& parameters) {
  std::vector<Parameter> unique;
  for (const Parameter& p : parameters) {
    const auto same = [&](const Parameter& q) { return q.variable.shared_node() == p.variable.shared_node(); };
    if (std::none_of(unique.begin(), unique.end(), same)) unique.push_back(p);
  }
  return unique;
}

std::vector<Tensor> zeros_like(const std::vector<Parameter>& parameters) {
  std::vector<Tensor> zeros;
  for (const Parameter& p : parameters) zeros.push_back(Tensor::zeros(p.variable.shape()));
  return zeros;
}

}  // namespace

Sgd::Sgd(std::vector<Parameter> p, Real m, Where where)
    : parameters(without_repeats(p)), momentum(m), velocity(zeros_like(parameters)) {
  if (!(momentum >= 0 && momentum < 1)) fail<ValueError>(where, "momentum must be in [0, 1), got {}", momentum);
}

void Sgd::step(Real learning_rate) {
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    Variable& parameter = parameters[k].variable;
    if (!parameter.has_gradient()) continue;
    map_in_place(
        velocity[k], parameter.gradient(), [this](Real v, Real g) { return momentum * v + g; }, Where::current());
    Tensor x = value_for_update(parameter);
    map_in_place(
        x, velocity[k], [learning_rate](Real a, Real v) { return a - learning_rate * v; }, Where::current());
  }
}

Adam::Adam(std::vector<Parameter> p, AdamOptions o, Where where)
    : parameters(without_repeats(p)),
      options(o),
      first_moment(zeros_like(parameters)),
      second_moment(zeros_like(parameters)) {
  const bool betas = o.beta1 >= 0 && o.beta1 < 1 && o.beta2 >= 0 && o.beta2 < 1;
  if (!betas || !(o.epsilon > 0) || !(o.weight_decay >= 0)) {
    fail<ValueError>(where,
                     "Adam: beta1 {} and beta2 {} must be in [0, 1), epsilon {} above 0, weight decay {} not below 0",
                     o.beta1, o.beta2, o.epsilon, o.weight_decay);
  }
}

void Adam::step(Real learning_rate) {
  const auto t = static_cast<double>(++steps);
  const Real b1 = options.beta1, b2 = options.beta2, decay = options.weight_decay, tiny = options.epsilon;
  const Real correction1 = 1 / static_cast<Real>(1 - math::pow(static_cast<double>(b1), t));
  const Real correction2 = 1 / static_cast<Real>(1 - math::pow(static_cast<double>(b2), t));
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    if (!parameters[k].variable.has_gradient()) continue;
    const Tensor gradient = parameters[k].variable.gradient().contiguous();
    Tensor value = value_for_update(parameters[k].variable);
    const Real* g = gradient.data();
    Real *x = value.data_in_place(), *m = first_moment[k].data_in_place(), *v = second_moment[k].data_in_place();
    parallel_for(value.size(), elements_per_thread, [=](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        m[i] = b1 * m[i] + (1 - b1) * g[i];
        v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
        const Real update = m[i] * correction1 / (std::sqrt(v[i] * correction2) + tiny);
        x[i] -= learning_rate * (update + decay * x[i]);
      }
    });
  }
}

Clipping clip_gradients(const std::vector<Parameter>& parameters, Real limit, Where where) {
  if (!(limit > 0)) fail<ValueError>(where, "the clipping limit must be above 0, got {}", limit);
  const std::vector<Parameter> unique = without_repeats(parameters);
  double squares = 0;
  for (const Parameter& p : unique) {
    if (!p.variable.has_gradient()) continue;
    const Tensor gradient = p.variable.gradient().contiguous();
    const Real* g = gradient.data();
    const auto squared = [g](Index i) { return static_cast<double>(g[i]) * static_cast<double>(g[i]); };
    squares += fold_row(gradient.size(), 0.0, squared, [](double a, double b) { return a + b; });
  }
  const double norm = std::sqrt(squares);
  if (!std::isfinite(norm)) return {norm, false};
  if (norm > static_cast<double>(limit)) {
    const Real factor = static_cast<Real>(static_cast<double>(limit) / norm);
    for (Parameter p : unique) {
      if (p.variable.has_gradient()) p.variable.set_gradient(scale(p.variable.gradient(), factor));
    }
  }
  return {norm, true};
}

}  // namespace segue
