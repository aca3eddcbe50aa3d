// Questions with one right answer, to train on and to be examined in: a text that ends where the
// answer is due.
#pragma once

#include <functional>
#include <vector>

#include "tensor/random.hpp"
#include "xl/language_model.hpp"
#include "xl/streams.hpp"

namespace segue {

struct Question {
  std::vector<Index> tokens;  // the last one asks
  Index answer;               // what a model should predict behind it
};
/// Draws a question of one token or more.
using QuestionSource = std::function<Question(Random&)>;

/// Question after question in every row, to train on.
class QuestionRows {
 public:
  /// B rows in segments of T tokens. Each row draws from a generator of its own, so its questions
  /// are the same whatever B and T are. Throws ValueError for B or T below 1 or beyond all use.
  QuestionRows(QuestionSource draw, Index B, Index T, Random& random,
               Where where = Where::current());

  /// Every question begins with a segment, and its row begins anew. Its only target is the answer;
  /// what is left of its last segment is filled up with its last token. Throws ValueError for a
  /// question without tokens.
  Batch next(Where where = Where::current());

 private:
  struct Row {
    Random random;
    Question question;
    Index position;  // tokens of it given out so far
  };

  QuestionSource draw_;
  Index B_, T_;
  std::vector<Row> rows_;
};

/// The share, 0 .. 1, of `count` fresh questions that a model answers right by its likeliest token.
/// It reads them `batch` at a time in segments of T tokens, each from an empty memory that keeps up
/// to `memory_length` positions. A NaN among the logits is no answer. Throws ValueError for a
/// number below 1 or beyond all use and for a question without tokens, and what the model throws.
double share_answered(const LanguageModel& model, const QuestionSource& draw, Index count,
                      Index batch, Index T, Index memory_length, Random& random,
                      Where where = Where::current());

}  // namespace segue
