// Parameters and how to find them: each layer names its own, in a fixed order, to a visitor.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autograd/variable.hpp"

namespace segue {

struct Parameter {
  std::string name;  // "layers.2.attention.w_q"
  Variable variable;
};

/// What a layer's `visit_parameters(prefix, visit)` calls once for each parameter, with its full
/// name.
using ParameterVisitor = std::function<void(const std::string& name, Variable& parameter)>;

/// All parameters of a layer or model in its fixed order. They are handles: a change shows in the
/// model.
template <class Layer>
std::vector<Parameter> parameters(Layer& layer) {
  std::vector<Parameter> all;
  layer.visit_parameters("", [&](const std::string& name, Variable& variable) {
    all.push_back({name, variable});
  });
  return all;
}

/// True when number k is the same parameter as an earlier one.
bool named_before(const std::vector<Parameter>& parameters, std::size_t k);
/// Keeps the first of several handles to one parameter.
std::vector<Parameter> unique_parameters(const std::vector<Parameter>& parameters);
/// A tensor of zeros for each: what an optimiser remembers at first.
std::vector<Tensor> zeros_like(const std::vector<Parameter>& parameters);

void clear_gradients(const std::vector<Parameter>& parameters);
/// Numbers in all parameters together; one that is named twice counts once.
Index parameter_count(const std::vector<Parameter>& parameters);

/// A tensor that may be overwritten to become the parameter's new value: its own numbers when
/// nothing else looks at them, else a copy, so that a graph or a reader that still holds the old
/// numbers keeps them.
Tensor value_for_update(Variable& parameter);

}  // namespace segue
