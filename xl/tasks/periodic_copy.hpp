// The periodic copy: each row repeats a random block of P symbols, x[t] = x[t - P]. Whoever can
// look P - 1 tokens back knows the next one; whoever cannot, knows nothing.
#pragma once

#include "tensor/random.hpp"
#include "xl/streams.hpp"

namespace segue {

class PeriodicCopy {
 public:
  /// B rows over V symbols in segments of T tokens. After `segments` of them all rows begin anew
  /// with fresh blocks. Throws ValueError for a length below 1 or beyond all use.
  PeriodicCopy(Index period, Index V, Index B, Index T, Index segments, Random& random,
               Where where = Where::current());

  /// Targets within the first period cannot be known and are ignored.
  Batch next();

 private:
  Index period_, V_, B_, T_, segments_, position_ = 0;
  Random& random_;
  Tokens rows_;  // [B, segments T + 1]
};

/// The lowest loss, in nats, that a look straight at the tokens allows, for the target of position
/// i in a segment behind a memory of M: the target repeats the token P - 1 places before position
/// i, which is in reach iff M + i >= P
/// - 1; else all V symbols are alike. One layer can do no better; more layers could, since what a
/// memory holds has itself looked back.
double periodic_copy_best_loss(Index M, Index i, Index period, Index V);

}  // namespace segue
