// Pairs of a key and its value, without end. In one row a key always has the same value, in another row another one, so
// a value can only be known from where the key stood before. Like associative recall it takes two looks, one for "what
// stood before this value" and one for "whose key was mine", but nearly every pair is a question.
//
//   key value key value key value ..      k3 v1 k0 v1 k3 -> v1
#pragma once

#include "tensor/random.hpp"
#include "xl/tasks/task_rows.hpp"

namespace segue {

/// Keys are drawn anew for each pair, values once for each key of a row; all are equally likely.
struct PairStream {
  Index keys = 8;    // tokens 0 .. keys-1
  Index values = 8;  // tokens keys .. keys+values-1

  Index vocabulary() const { return keys + values; }
};

/// Rows to train on, as TaskRows says. The target of a key that the row has shown before is its value, at the distance
/// where the key stood last; other tokens have none. Throws ValueError for a task that makes no sense, and so does the
/// function below.
TaskRows pair_stream_rows(const PairStream& task, Index B, Index T, Index segments, Random& random,
                          Where where = Where::current());

/// The lowest mean loss over such rows, in nats, for whoever sees the key at position i of its segment and M + i tokens
/// before it: 0 where the key stands among them, else ln values. It holds for even M and T, with which no value is ever
/// in sight without its key; other numbers are a ValueError.
double pair_stream_best_loss(const PairStream& task, Index M, Index T, Index segments, Where where = Where::current());

}  // namespace segue
