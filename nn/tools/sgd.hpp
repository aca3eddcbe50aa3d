// Gradient descent: what Adam is measured against.
#pragma once

#include "nn/parameters.hpp"

namespace segue {

/// Stochastic gradient descent with momentum: v = momentum v + g, x = x - rate v. A parameter
/// without a gradient stays.
struct Sgd {
  Sgd(std::vector<Parameter> parameters, Real momentum = 0, Where where = Where::current());
  void step(Real learning_rate);

  std::vector<Parameter> parameters;
  Real momentum;
  std::vector<Tensor> velocity;
};

}  // namespace segue
