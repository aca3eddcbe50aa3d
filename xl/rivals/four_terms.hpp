// Transformer-XL's own scores with each of the four terms (a) to (d) of xl/attention.hpp to be
// switched off, and with the position in the values, where the paper has none, to be switched on:
//
//   z_i = sum_j weight_ij (v_j + s_{i-j}),   s = R W_v,R
#pragma once

#include "tensor/random.hpp"
#include "xl/rivals/encoding.hpp"
#include "xl/rivals/scheme.hpp"

namespace segue {

struct FourTerms : PositionScheme {
  FourTerms(const Config& config, const Encoding& encoding, Random& random);
  Variable scores(const Variable& q, const Variable& k, const Pass& pass) const override;
  Variable read(const Variable& weights, const Variable& values, const Pass& pass) const override;
  /// A term that is off keeps its parameters, so that weights fit all variants.
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit) override;

  Encoding encoding;
  Variable w_k_R;  // [D, H Dh] keys by distance
  Variable w_v_R;  // [D, H Dh] values by distance; a parameter only with the position in the values
};

}  // namespace segue
