#include "nn/linear.hpp"

#include <cmath>

#include "autograd/arithmetic.hpp"
#include "autograd/matmul.hpp"

namespace segue {

Variable random_matrix(Index rows, Index columns, Random& random, std::string label) {
  const Real deviation = 1 / std::sqrt(static_cast<Real>(rows));
  return parameter(random.normal({rows, columns}, 0, deviation), std::move(label));
}

Linear::Linear(Index inputs, Index outputs, Random& random)
    : w(random_matrix(inputs, outputs, random, "w")), b(parameter(Tensor::zeros({outputs}), "b")) {}

Variable Linear::operator()(const Variable& x, Where where) const {
  return add(matmul(x, w, where), b, where);
}

void Linear::visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
  visit(prefix + "w", w);
  visit(prefix + "b", b);
}

}  // namespace segue
