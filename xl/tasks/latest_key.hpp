// Keys, rare among noise. At every token of noise the question is: which key came last? It takes
// places, to tell the last key from those before it, and contents, to tell a key from noise; but
// contents may do that in the values alone, with weights that fall so fast by distance that the
// last key outweighs the others. One look is enough.
//
//   k3 noise noise k1 noise noise noise ..      -> k3 at the first two, k1 at the others
#pragma once

#include "tensor/random.hpp"
#include "xl/tasks/task_rows.hpp"

namespace segue {

/// Every token is drawn anew; all keys are equally likely, and so are all kinds of noise.
struct LatestKey {
  Index keys = 8;     // tokens 0 .. keys-1
  Index noise = 8;    // tokens keys .. keys+noise-1
  Index rarity = 16;  // one token in so many is a key

  Index vocabulary() const { return keys + noise; }
};

/// Rows to train on, as TaskRows says. The target of noise is the key that stood last before it, if
/// the row has one. Throws ValueError for a task that makes no sense, and so does the function
/// below.
TaskRows latest_key_rows(const LatestKey& task, Index B, Index T, Index segments, Random& random,
                         Where where = Where::current());

/// The lowest mean loss over such rows, in nats, for whoever sees the noise at position i of its
/// segment and M + i tokens before it: 0 where a key is among them, else ln keys. Throws ValueError
/// also for lengths without sense or beyond all use.
double latest_key_best_loss(const LatestKey& task, Index M, Index T, Index segments,
                            Where where = Where::current());

}  // namespace segue
