// Associative recall: pairs of a key and its value, a gap of noise, then one of the keys alone, and
// the answer is its value. To find it takes two looks: which key was this, and what stood behind
// it.
//
//   key value key value .. key value noise noise .. noise key -> its value
#pragma once

#include "xl/tasks/questions.hpp"

namespace segue {

struct AssociativeRecall {
  Index pairs = 4;                   // their keys all differ
  Index keys = 8;                    // tokens 0 .. keys-1
  Index values = 8;                  // tokens keys .. keys+values-1
  Index noise = 8;                   // tokens keys+values .. V-1
  Index shortest = 0, longest = 50;  // tokens of noise: any number between, all as likely

  /// V: keys, values and noise.
  Index vocabulary() const { return keys + values + noise; }
};

/// Any pair is asked for as often as any other. Throws ValueError for a task that makes no sense,
/// and so do all below.
QuestionSource associative_recall_questions(const AssociativeRecall& task,
                                            Where where = Where::current());

/// The largest share of right answers, and the lowest loss in nats, that are open to whoever sees
/// the key that is asked for and `reach` tokens before it, as in gap_recall_best_accuracy; the mean
/// over all gaps. If the pair is in sight, its value is known; if not, any of the pairs out of
/// sight may be meant. The last of these may have its value in sight without its key, and then that
/// value is the best guess.
double associative_recall_best_accuracy(const AssociativeRecall& task, Index reach,
                                        Where where = Where::current());
double associative_recall_best_loss(const AssociativeRecall& task, Index reach,
                                    Where where = Where::current());

}  // namespace segue
