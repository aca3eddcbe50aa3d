// Recall across a gap: a key, then noise from another alphabet, then a query, and the answer is the
// key. Whoever can look gap + 1 tokens back knows it; whoever cannot, knows nothing.
//
//   key noise noise noise .. noise query -> key
#pragma once

#include "xl/tasks/questions.hpp"

namespace segue {

struct GapRecall {
  Index keys = 8;   // tokens 0 .. keys-1
  Index noise = 8;  // tokens keys .. keys+noise-1; the query is the one behind them
  Index shortest = 0, longest = 200;  // tokens of noise: any number between, all as likely

  /// V: keys, noise and the query.
  Index vocabulary() const { return keys + noise + 1; }
};

/// Throws ValueError for a task that makes no sense, and so do all below.
QuestionSource gap_recall_questions(const GapRecall& task, Where where = Where::current());

/// The largest share of right answers, and the lowest loss in nats, that are open to whoever sees
/// the query and `reach` tokens before it: 1 and 0 for a gap below `reach`, else chance, 1 / keys
/// and ln keys; the mean over all gaps. At position i of a segment behind a memory of M a single
/// look reaches M + i tokens back, and N layers reach as far as tokens_in_reach tells, which counts
/// the query too.
double gap_recall_best_accuracy(const GapRecall& task, Index reach, Where where = Where::current());
double gap_recall_best_loss(const GapRecall& task, Index reach, Where where = Where::current());

}  // namespace segue
