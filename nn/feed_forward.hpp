// The position-wise feed-forward layer: relu(x W_1 + b_1) W_2 + b_2 (Vaswani et al. 2017, equation
// 2).
#pragma once

#include "nn/dropout.hpp"
#include "nn/linear.hpp"

namespace segue {

struct FeedForward {
  FeedForward(Index width, Index inner_width, Random& random);
  /// [B, T, D] -> [B, T, D]; dropout follows the relu.
  Variable operator()(const Variable& x, Real dropout, const Mode& mode,
                      Where where = Where::current()) const;
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit);

  Linear inner, outer;  // D -> F, F -> D
};

}  // namespace segue
