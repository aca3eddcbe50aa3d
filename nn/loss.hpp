// Cross-entropy from logits.
#pragma once

#include "autograd/variable.hpp"
#include "tensor/tokens.hpp"

namespace segue {

inline constexpr Index ignored_target = -100;

/// -log softmax(logits)[target] for each target, in nats: [.., V] and [..] -> [..]. An ignored
/// target has loss 0 and no gradient. Throws ShapeError; RangeError for any other target outside 0
/// .. V-1.
Variable cross_entropy(const Variable& logits, const Tokens& targets,
                       Where where = Where::current());

struct [[nodiscard]] MeanLoss {
  Variable loss;  // rank 0; 0 when no target counts
  Index count;    // targets that are not ignored
};
/// The mean of cross_entropy over the targets that count.
MeanLoss mean_cross_entropy(const Variable& logits, const Tokens& targets,
                            Where where = Where::current());

/// Targets that are not ignored.
Index count_targets(const Tokens& targets);

}  // namespace segue
