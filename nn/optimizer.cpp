#include "nn/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "tensor/elementwise.hpp"
#include "tensor/fail.hpp"
#include "tensor/kernels/math.hpp"
#include "tensor/map.hpp"
#include "tensor/rows.hpp"

namespace segue {
namespace {

struct AdamFactors {
  Real b1, b2, correction1, correction2, tiny, decay, learning_rate;
};

// What one parameter's update reads and writes.
struct Update {
  Tensor g;  // contiguous
  Real *x, *m, *v;
};

// A function of its own, with copies of all it needs: so the compiler knows that no store changes
// them.
void adam_update(Index n, Real* x, Real* m, Real* v, const Real* g, AdamFactors f) {
  for (Index i = 0; i < n; ++i) {
    m[i] = f.b1 * m[i] + (1 - f.b1) * g[i];
    v[i] = f.b2 * v[i] + (1 - f.b2) * g[i] * g[i];
    const Real update = m[i] * f.correction1 / (std::sqrt(v[i] * f.correction2) + f.tiny);
    x[i] -= f.learning_rate * (update + f.decay * x[i]);
  }
}

}  // namespace

Adam::Adam(std::vector<Parameter> p, AdamOptions o, Where where)
    : parameters(unique_parameters(p)),
      options(o),
      first_moment(zeros_like(parameters)),
      second_moment(zeros_like(parameters)) {
  const bool betas = o.beta1 >= 0 && o.beta1 < 1 && o.beta2 >= 0 && o.beta2 < 1;
  if (!betas || !(o.epsilon > 0) || !(o.weight_decay >= 0)) {
    fail<ValueError>(where,
                     "Adam: beta1 {} and beta2 {} must be in [0, 1), epsilon {} above 0, weight "
                     "decay {} not below 0",
                     o.beta1, o.beta2, o.epsilon, o.weight_decay);
  }
}

void Adam::step(Real learning_rate) {
  const auto t = static_cast<double>(++steps);
  const AdamFactors factors = {
      options.beta1,
      options.beta2,
      1 / static_cast<Real>(1 - math::pow(static_cast<double>(options.beta1), t)),
      1 / static_cast<Real>(1 - math::pow(static_cast<double>(options.beta2), t)),
      options.epsilon,
      options.weight_decay,
      learning_rate};
  std::vector<Update, BlockAllocator<Update>> updates;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    Variable& p = parameters[k].variable;
    if (!p.has_gradient()) continue;
    Tensor x = value_for_update(p), &m = first_moment[k], &v = second_moment[k];
    updates.push_back(
        {p.gradient().contiguous(), x.data_in_place(), m.data_in_place(), v.data_in_place()});
  }
  // Shared out as if the parameters lay end to end: so many small ones keep all threads as busy as
  // one large one.
  parallel_for(parameter_count(parameters), elements_per_thread / 4, [&](Index begin, Index end) {
    for (const Update& u : updates) {
      const Index first = std::max<Index>(begin, 0), last = std::min(end, u.g.size());
      if (first < last)
        adam_update(last - first, u.x + first, u.m + first, u.v + first, u.g.data() + first,
                    factors);
      begin -= u.g.size(), end -= u.g.size();
    }
  });
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
