// The two places of attention where a position can enter: the scores and what is read. On its own
// this is attention by content, which knows no positions; what a scheme changes, it overrides.
#pragma once

#include "nn/parameters.hpp"
#include "xl/attention.hpp"

namespace segue {

struct PositionScheme {
  virtual ~PositionScheme() = default;

  /// How much query i wants key j, before the division by sqrt(Dh): q_i . k_j. What stands at keys
  /// behind a query is masked later. q: [B, H, T, Dh], k: [B, H, K, Dh] -> [B, H, T, K]
  virtual Variable scores(const Variable& q, const Variable& k, const Pass& pass) const;
  /// What query i reads: sum_j weights_ij values_j. [B, H, T, K] and [B, H, K, Dh] -> [B, H, T, Dh]
  virtual Variable read(const Variable& weights, const Variable& values, const Pass& pass) const;
  virtual void visit_parameters(const std::string& prefix, const ParameterVisitor& visit);
};

}  // namespace segue
