#include "nn/parameters.hpp"

#include <algorithm>

namespace segue {

std::vector<Parameter> unique_parameters(const std::vector<Parameter>& parameters) {
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

void clear_gradients(const std::vector<Parameter>& parameters) {
  for (const Parameter& p : parameters) Variable(p.variable).clear_gradient();
}

Index parameter_count(const std::vector<Parameter>& parameters) {
  Index count = 0;
  for (const Parameter& p : parameters) count += p.variable.value().size();
  return count;
}

Tensor value_for_update(Variable& parameter) {
  const Tensor& value = parameter.value();
  if (!value.owns_storage_alone() || !value.is_contiguous()) parameter.set_value(value.clone());
  return parameter.value();
}

}  // namespace segue
