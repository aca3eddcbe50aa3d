// What tasks share: endless rows of tokens, each with what is to be said there, cut into segments
// for training. A task is a function that writes a row on.
#pragma once

#include <functional>
#include <vector>

#include "xl/streams.hpp"

namespace segue {

/// A row as far as it is written. All three have the same length.
struct TaskRow {
  std::vector<Index> tokens;
  std::vector<Index>
      targets;  // what is to be said at each token; ignored_target where nothing is to be learned
  std::vector<Index> distances;  // how many tokens back lies the farthest one that a target hangs
                                 // on; -1 without target

  /// A token at which nothing is to be learned.
  void write(Index token);
  /// A token at which `target` is known to whoever sees `distance` tokens back, and to nobody else.
  void write(Index token, Index target, Index distance);
};

/// Writes one or more tokens more behind a row, which is empty at first.
using WriteOn = std::function<void(TaskRow& row)>;

class TaskRows {
 public:
  /// B rows in segments of T tokens; after `segments` of them all begin anew. Rows are written
  /// whole, one after the other, so only the product of T and segments decides what stands in them.
  /// Throws ValueError for a length below 1 or beyond all use.
  TaskRows(Index B, Index T, Index segments, WriteOn write_on, Where where = Where::current());

  /// Throws ValueError when write_on wrote nothing, or not the same number of tokens, targets and
  /// distances.
  Batch next(Where where = Where::current());
  /// The distance of each target of the last batch, -1 where it is ignored. [B, T]
  const Tokens& distances() const { return distances_; }

 private:
  Index B_, T_, segments_, position_ = 0;
  WriteOn write_on_;
  std::vector<TaskRow> rows_;
  Tokens distances_;
};

}  // namespace segue
