#include "xl/rivals/shaw.hpp"

#include <cmath>

#include "autograd/arithmetic.hpp"
#include "autograd/matmul.hpp"
#include "autograd/shaping.hpp"
#include "xl/relative_shift.hpp"
#include "xl/rivals/distances.hpp"

namespace segue {

Shaw::Shaw(const Config& c, Index rows, Random& random) {
  const Real deviation = 1 / std::sqrt(static_cast<Real>(c.head_width));
  a_K = parameter(random.normal({rows, c.head_width}, 0, deviation), "a_K");
  a_V = parameter(random.normal({rows, c.head_width}, 0, deviation), "a_V");
}

// q_i . (k_j + a_{i-j}) = q_i . k_j + q_i . a_{i-j}: the second product needs one vector a
// distance, not one a pair.
Variable Shaw::scores(const Variable& q, const Variable& k, const Pass&) const {
  const Variable a = gather(a_K, clipped_distances(k.dim(2), a_K.dim(0)));  // [K, Dh]
  const Variable content = matmul(q, transpose(k, -1, -2));                 // [B, H, T, K]
  return content + relative_shift(matmul(q, transpose(a, -1, -2)));         // [B, H, T, K]
}

Variable Shaw::read(const Variable& weights, const Variable& values, const Pass&) const {
  const Variable a = gather(a_V, clipped_distances(values.dim(2), a_V.dim(0)));    // [K, Dh]
  return weighted_sum(weights, values) + matmul(weights_by_distance(weights), a);  // [B, H, T, Dh]
}

void Shaw::visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
  visit(prefix + "a_K", a_K);
  visit(prefix + "a_V", a_V);
}

}  // namespace segue
