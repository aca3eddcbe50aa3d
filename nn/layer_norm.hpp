// Layer normalisation (Ba, Kiros and Hinton 2016).
#pragma once

#include "nn/parameters.hpp"

namespace segue {

/// Inside the root, so that a constant row has a finite gradient.
inline constexpr Real layer_norm_epsilon = Real(1e-5);

/// z = gain (x - mean) / sqrt(variance + 1e-5) + bias over the last axis, one op. A constant row
/// gives the bias. Throws ShapeError unless x is [.., D], gain and bias [D].
Variable layer_norm(const Variable& x, const Variable& gain, const Variable& bias,
                    Where where = Where::current());
struct LayerNorm {
  explicit LayerNorm(Index width);
  Variable operator()(const Variable& x, Where where = Where::current()) const {
    return layer_norm(x, gain, bias, where);
  }
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit);

  Variable gain, bias;  // [D]
};

}  // namespace segue
