// How well a model predicts a text.
#pragma once

#include <vector>

#include "xl/language_model.hpp"

namespace segue {

struct Evaluation {
  double nats;  // mean cross-entropy of a token
  Index count;  // tokens predicted

  double perplexity() const;  // e^nats
  /// nats / ln 2: bits per character or byte when that is what a token is.
  double bits() const;
};

/// Reads `text` in `batch` stretches, each in segments of any length with a memory of any length, whatever the training
/// used; the first token of a stretch is given, all others are predicted. While the memory covers the whole history the
/// segment length changes nothing. Throws ValueError for a text of less than two tokens, RangeError for a token outside
/// the vocabulary.
Evaluation evaluate(const LanguageModel& model, const std::vector<Index>& text, Index segment_length,
                    Index memory_length, Index batch = 1, Where where = Where::current());

}  // namespace segue
