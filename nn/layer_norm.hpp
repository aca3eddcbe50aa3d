// Layer normalisation (Ba, Kiros and Hinton 2016).
#pragma once

#include "nn/parameters.hpp"

namespace segue {

/// z = gain (x - mean) / sqrt(variance + 1e-5) + bias over the last axis, one op. A constant row gives the bias.
/// Throws ShapeError unless x is [.., D], gain and bias [D].
Variable layer_norm(const Variable& x, const Variable& gain, const Variable& bias, Where where = Where::current());
/// The definition, made of simple ops: what layer_norm is compared with.
Variable layer_norm_plain(const Variable& x, const Variable& gain, const Variable& bias);

struct LayerNorm {
  explicit LayerNorm(Index width);
  Variable operator()(const Variable& x, Where where = Where::current()) const {
    return layer_norm(x, gain, bias, where);
  }
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit);

  Variable gain, bias;  // [D]
};

}  // namespace segue
