// Shaw et al. 2018, "Self-Attention with Relative Position Representations" (arXiv 1803.02155):
// learned vectors for distances, one table for keys and one for values, shared by the heads of a
// layer. Distances above k = rows - 1 count as k. A decoder looks back only, so the tables have no
// rows for what lies ahead.
//
//   score_ij = q_i . (k_j + a^K_{i-j})              (their equation 4)
//   z_i      = sum_j weight_ij (v_j + a^V_{i-j})    (their equation 3)
#pragma once

#include "tensor/random.hpp"
#include "xl/rivals/encoding.hpp"
#include "xl/rivals/scheme.hpp"

namespace segue {

struct Shaw : PositionScheme {
  Shaw(const Config& config, Index rows, Random& random);
  Variable scores(const Variable& q, const Variable& k, const Pass& pass) const override;
  Variable read(const Variable& weights, const Variable& values, const Pass& pass) const override;
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit) override;

  Variable a_K;  // [rows, Dh] added to keys
  Variable a_V;  // [rows, Dh] added to values
};

}  // namespace segue
