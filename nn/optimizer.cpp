#include "nn/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "tensor/fail.hpp"
#include "tensor/math.hpp"
#include "tensor/rows.hpp"

namespace segue {
namespace {

struct AdamFactors {
  Real b1, b2, correction1, correction2, tiny, decay, learning_rate;
};

// The arrays of one parameter that has a gradient, all of length n.
struct Arrays {
  Index n;
  Real* g;
  Real *x = nullptr, *m = nullptr, *v = nullptr;
  double squares = 0;  // sum of g^2
};
using AllArrays = std::vector<Arrays, BlockAllocator<Arrays>>;

// Calls f(arrays, begin, end) for pieces that cover each 0 .. n-1 once, shared out as if the parameters lay end to end:
// so many small ones keep all threads busy, as one large one does.
template <class F>
void each_piece(AllArrays& all, const F& f) {
  Index n = 0;
  for (const Arrays& a : all) n += a.n;
  parallel_for(n, elements_per_thread / 4, [&](Index begin, Index end) {
    for (Arrays& a : all) {
      const Index first = std::max<Index>(begin, 0), last = std::min(end, a.n);
      if (first < last) f(a, first, last);
      begin -= a.n, end -= a.n;
    }
  });
}

// A function of its own, with copies of all it needs: so the compiler knows that no store changes them.
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
                     "Adam: beta1 {} and beta2 {} must be in [0, 1), epsilon {} above 0, weight decay {} not below 0",
                     o.beta1, o.beta2, o.epsilon, o.weight_decay);
  }
}

void Adam::step(Real learning_rate) {
  const auto t = static_cast<double>(++steps);
  const AdamFactors factors = {options.beta1,
                               options.beta2,
                               1 / static_cast<Real>(1 - math::pow(static_cast<double>(options.beta1), t)),
                               1 / static_cast<Real>(1 - math::pow(static_cast<double>(options.beta2), t)),
                               options.epsilon,
                               options.weight_decay,
                               learning_rate};
  AllArrays all;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    Variable& p = parameters[k].variable;
    if (!p.has_gradient()) continue;
    Tensor g = gradient_for_update(p), x = value_for_update(p), &m = first_moment[k], &v = second_moment[k];
    all.push_back({g.size(), g.data_in_place(), x.data_in_place(), m.data_in_place(), v.data_in_place()});
  }
  each_piece(all, [factors](const Arrays& a, Index begin, Index end) {
    adam_update(end - begin, a.x + begin, a.m + begin, a.v + begin, a.g + begin, factors);
  });
}

Clipping clip_gradients(const std::vector<Parameter>& parameters, Real limit, Where where) {
  if (!(limit > 0)) fail<ValueError>(where, "the clipping limit must be above 0, got {}", limit);
  AllArrays all;
  for (const Parameter& p : parameters) {
    if (!p.variable.has_gradient()) continue;
    Variable variable = p.variable;
    Tensor gradient = gradient_for_update(variable);
    Real* const g = gradient.data_in_place();
    const bool again = std::any_of(all.begin(), all.end(), [g](const Arrays& a) { return a.g == g; });
    if (!again) all.push_back({gradient.size(), g});
  }
  each_piece(all, [](Arrays& a, Index begin, Index) {
    if (begin > 0) return;  // all of it belongs to one thread, so that the order of the sum is always the same
    const auto squared = [g = a.g](Index i) { return static_cast<double>(g[i]) * static_cast<double>(g[i]); };
    a.squares = fold_row(a.n, 0.0, squared, std::plus<>());
  });
  double squares = 0;
  for (const Arrays& a : all) squares += a.squares;
  const double norm = std::sqrt(squares);
  if (!std::isfinite(norm)) return {norm, false};
  if (norm > static_cast<double>(limit)) {
    const Real factor = static_cast<Real>(static_cast<double>(limit) / norm);
    each_piece(all, [factor](const Arrays& a, Index begin, Index end) {
      for (Index i = begin; i < end; ++i) a.g[i] *= factor;
    });
  }
  return {norm, true};
}

}  // namespace segue
