#include "nn/parameters.hpp"

#include <algorithm>

namespace segue {
namespace {

bool may_be_overwritten(const Tensor& x) { return x.owns_storage_alone() && x.is_contiguous(); }

}  // namespace

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
  if (!may_be_overwritten(parameter.value())) parameter.set_value(parameter.value().clone());
  return parameter.value();
}

Tensor gradient_for_update(Variable& parameter) {
  if (!may_be_overwritten(parameter.gradient())) parameter.set_gradient(parameter.gradient().clone());
  return parameter.gradient();
}

}  // namespace segue
