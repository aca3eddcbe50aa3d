#include "nn/tools/sgd.hpp"

#include "tensor/fail.hpp"
#include "tensor/map.hpp"

namespace segue {

Sgd::Sgd(std::vector<Parameter> p, Real m, Where where)
    : parameters(unique_parameters(p)), momentum(m), velocity(zeros_like(parameters)) {
  if (!(momentum >= 0 && momentum < 1))
    fail<ValueError>(where, "momentum must be in [0, 1), got {}", momentum);
}

void Sgd::step(Real learning_rate) {
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    Variable& parameter = parameters[k].variable;
    if (!parameter.has_gradient()) continue;
    map_in_place(velocity[k], parameter.gradient(),
                 [this](Real v, Real g) { return momentum * v + g; });
    Tensor x = value_for_update(parameter);
    map_in_place(x, velocity[k], [learning_rate](Real a, Real v) { return a - learning_rate * v; });
  }
}

}  // namespace segue
