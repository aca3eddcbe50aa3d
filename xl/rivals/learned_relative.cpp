#include "xl/rivals/learned_relative.hpp"

#include <cmath>

#include "autograd/arithmetic.hpp"
#include "autograd/matmul.hpp"
#include "autograd/shaping.hpp"
#include "xl/relative_shift.hpp"
#include "xl/rivals/distances.hpp"

namespace segue {

LearnedRelative::LearnedRelative(const Config& c, Index rows, Random& random)
    : r(parameter(random.normal({c.heads, rows, c.head_width}, 0,
                                1 / std::sqrt(static_cast<Real>(c.head_width))),
                  "r")),
      u(parameter(Tensor::zeros({c.heads, 1, c.head_width}), "u")),
      d(parameter(Tensor::zeros({c.heads, 1, rows}), "d")) {}

Variable LearnedRelative::scores(const Variable& q, const Variable& k, const Pass&) const {
  const Tokens distances = clipped_distances(k.dim(2), r.dim(1));
  const Variable keys = gather(r, distances, 1);                                 // [H, K, Dh]
  const Variable biases = gather(d, distances, 2);                               // [H, 1, K]
  const Variable content = matmul(q + u, transpose(k, -1, -2));                  // [B, H, T, K]
  return content + relative_shift(matmul(q, transpose(keys, -1, -2)) + biases);  // [B, H, T, K]
}

void LearnedRelative::visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
  visit(prefix + "r", r);
  visit(prefix + "u", u);
  visit(prefix + "d", d);
}

}  // namespace segue
