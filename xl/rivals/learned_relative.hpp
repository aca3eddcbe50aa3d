// Transformer-XL with everything about distances learned: in the four terms of xl/attention.hpp a
// row of a table takes the place of R W_k,R, and a number for each distance the place of v . r. The
// tables belong to one layer and each head has its own; longer distances take the last row. (The
// original's code offers this beside the paper's encoding.)
//
//   score_ij = (q_i + u) . k_j + q_i . r_{i-j} + d_{i-j}
#pragma once

#include "tensor/random.hpp"
#include "xl/rivals/encoding.hpp"
#include "xl/rivals/scheme.hpp"

namespace segue {

struct LearnedRelative : PositionScheme {
  LearnedRelative(const Config& config, Index rows, Random& random);
  Variable scores(const Variable& q, const Variable& k, const Pass& pass) const override;
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit) override;

  Variable r;  // [H, rows, Dh] a key for each distance
  Variable u;  // [H, 1, Dh] content bias
  Variable d;  // [H, 1, rows] a bias for each distance
};

}  // namespace segue
