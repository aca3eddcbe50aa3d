#include "nn/parameters.hpp"

#include <algorithm>

namespace segue {

bool named_before(const std::vector<Parameter>& parameters, std::size_t k) {
  const auto same = [&](const Parameter& p) {
    return p.variable.shared_node() == parameters[k].variable.shared_node();
  };
  return std::any_of(parameters.begin(), parameters.begin() + static_cast<std::ptrdiff_t>(k), same);
}

std::vector<Parameter> unique_parameters(const std::vector<Parameter>& parameters) {
  std::vector<Parameter> unique;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    if (!named_before(parameters, k)) unique.push_back(parameters[k]);
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
  for (const Parameter& p : unique_parameters(parameters)) count += p.variable.value().size();
  return count;
}

Tensor value_for_update(Variable& parameter) {
  const Tensor& value = parameter.value();
  if (!value.owns_storage_alone() || !value.is_contiguous()) parameter.set_value(value.clone());
  return parameter.value();
}

}  // namespace segue
