// How well a model predicts a text.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "xl/language_model.hpp"

namespace segue {

struct Evaluation {
  double nats;  // mean cross-entropy of a token
  Index count;  // tokens predicted

  double perplexity() const;  // e^nats
  /// nats / ln 2: bits per character or byte when that is what a token is.
  double bits() const;
  /// All bits together over another number of units: bits per byte of a model of words, bits per
  /// character of a model of bytes, for the bytes or characters that the predicted tokens spell.
  /// NaN for no units.
  double bits_per(Index units) const;
};

/// Told how many of the tokens have been predicted; false ends the evaluation, which then counts
/// those alone.
using EvaluationReport = std::function<bool(Index done, Index total)>;

/// Reads `text` in `batch` stretches, each in segments of any length with a memory of any length,
/// whatever the training used; the first token of a stretch is given, all others are predicted.
/// While the memory covers the whole history the segment length changes nothing. Throws ValueError
/// for a text of less than two tokens, RangeError for a token outside the vocabulary.
Evaluation evaluate(const LanguageModel& model, const std::vector<Index>& text,
                    Index segment_length, Index memory_length, Index batch = 1,
                    const EvaluationReport& report = nullptr, Where where = Where::current());

/// Predicts every token but the first from exactly the `window` tokens before it (from all of them
/// where there are fewer), each in a pass of its own without memory: the vanilla Transformer's way
/// to give every token a long context (paper, section 3.1), at `window` times the work. `batch`
/// windows are computed side by side. Throws ValueError for a text of less than two tokens or
/// lengths below 1, RangeError for a token outside the vocabulary.
Evaluation evaluate_sliding(const LanguageModel& model, const std::vector<Index>& text,
                            Index window, Index batch = 32,
                            const EvaluationReport& report = nullptr,
                            Where where = Where::current());

/// How many characters a UTF-8 text has: its code points, counted by the bytes that begin one.
Index count_characters(const std::string& text);

}  // namespace segue
