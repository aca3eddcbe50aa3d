// Brackets of several kinds, nested: ( [ { } ] ). What closes is always what was opened last and is
// not closed yet, so its kind hangs on one token, and all that stands in between is closed already
// and no help.
#pragma once

#include "tensor/random.hpp"
#include "xl/tasks/task_rows.hpp"

namespace segue {

/// The text is one outermost pair behind the other. Each has exactly `distance` tokens inside it,
/// arranged in any of the ways that close all pairs and nest at most `depth` of them, the outermost
/// one included; all ways are equally likely, and so are the kinds. It is a Dyck language (Chomsky
/// and Schuetzenberger 1963) of bounded depth.
struct Brackets {
  Index kinds = 2;      // an opening bracket is a token 0 .. kinds-1, its closing one is that plus
                        // kinds: V = 2 kinds
  Index depth = 4;      // 1 leaves no room inside a pair
  Index distance = 14;  // even, as the tokens inside are pairs
};

/// Rows to train on, as TaskRows says. Targets are the closing brackets, at the tokens before them:
/// the question is only which kind is closed, not whether one is. Throws ValueError for what cannot
/// be nested or is beyond all use.
TaskRows bracket_rows(const Brackets& task, Index B, Index T, Index segments, Random& random,
                      Where where = Where::current());

/// The lowest mean loss over the targets, in nats, for whoever sees the predicting token and
/// `reach` before it: 0 for a pair with at most `reach` tokens inside, ln kinds for any other,
/// where one guess in so many is right by chance. Exact for whole outermost pairs. Throws
/// ValueError as above, and for a reach below 0.
double bracket_best_loss(const Brackets& task, Index reach, Where where = Where::current());

}  // namespace segue
