// A block of symbols is scattered among noise. After a gap of more noise a mark asks for it, and
// the symbols are to be given back without the noise, in their order or in reverse:
//
//   noise A noise noise B C | noise noise | ask A B C      (or ask C B A)
#pragma once

#include "tensor/random.hpp"
#include "xl/tasks/task_rows.hpp"

namespace segue {

/// Such episodes, one behind the other. Every choice of places and every symbol is as likely as any
/// other.
struct BlockCopy {
  Index symbols =
      8;  // tokens 0 .. symbols-1; as many kinds of noise follow, then the mark: V = 2 symbols + 1
  Index block = 4;        // symbols to remember
  Index spread = 8;       // places among which theirs are chosen: at least `block`, which leaves no
                          // noise between them
  Index gap = 4;          // noise between the last of these places and the mark
  bool reversed = false;  // the last symbol is asked for first
};

/// Tokens of an episode: the places, the gap, the mark, the answer. Throws ValueError as below.
Index block_copy_length(const BlockCopy& task, Where where = Where::current());

/// Rows to train on, as TaskRows says. Targets are the symbols of the answer, at the mark and at
/// all of them but the last. Throws ValueError for a block that does not fit or lengths beyond all
/// use.
TaskRows block_copy_rows(const BlockCopy& task, Index B, Index T, Index segments, Random& random,
                         Where where = Where::current());

/// The lowest mean loss over the targets, in nats, for whoever sees the predicting token and
/// `reach` before it: 0 where the symbol's first place is among them, ln symbols elsewhere, where
/// one guess in so many is right by chance. Throws ValueError as above, and for a reach below 0.
double block_copy_best_loss(const BlockCopy& task, Index reach, Where where = Where::current());

}  // namespace segue
