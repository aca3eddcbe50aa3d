#include "xl/rivals/scheme.hpp"

#include "autograd/matmul.hpp"
#include "autograd/shaping.hpp"

namespace segue {

Variable PositionScheme::scores(const Variable& q, const Variable& k, const Pass&) const {
  return matmul(q, transpose(k, -1, -2));
}

Variable PositionScheme::read(const Variable& weights, const Variable& values, const Pass&) const {
  return weighted_sum(weights, values);
}

void PositionScheme::visit_parameters(const std::string&, const ParameterVisitor&) {}

}  // namespace segue
