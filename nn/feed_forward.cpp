#include "nn/feed_forward.hpp"

#include "autograd/relu.hpp"
#include "nn/kernels/linear_relu.hpp"
#include "tensor/plain.hpp"

namespace segue {

FeedForward::FeedForward(Index width, Index inner_width, Random& random)
    : inner(width, inner_width, random), outer(inner_width, width, random) {}

Variable FeedForward::operator()(const Variable& x, Real dropout, const Mode& mode,
                                 Where where) const {
  const Variable hidden = plain() ? relu(inner(x, where), where)
                                  : linear_relu(x, inner.w, inner.b, where);  // [B, T, F]
  return outer(mode.dropout(hidden, dropout, where), where);
}

void FeedForward::visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
  inner.visit_parameters(prefix + "inner.", visit);
  outer.visit_parameters(prefix + "outer.", visit);
}

}  // namespace segue
