// Writing on: one token a step, everything before it in the memory.
#pragma once

#include <vector>

#include "xl/language_model.hpp"

namespace segue {

struct Sampling {
  Real temperature = 1;  // 0 takes the likeliest token
  Index top_k = 0;       // only the k likeliest; 0 is off
  Real top_p = 1;        // only the likeliest that together have this probability, at least one
};

/// Draws a token from softmax(logits / temperature). Throws ValueError for a temperature or top_k below 0, an
/// infinite temperature, a top_p outside (0, 1], and logits that are NaN or all -infinity.
Index sample(const Tensor& logits, const Sampling& sampling, Random& random, Where where = Where::current());

/// A text that is being continued.
class Generator {
 public:
  Generator(const LanguageModel& model, Index memory_length, Where where = Where::current());

  /// Reads tokens, in segments of the model's training length. The same as reading them one by one while the memory
  /// covers the text.
  void read(const std::vector<Index>& tokens, Where where = Where::current());
  /// Draws the next token and reads it. Throws ValueError before anything was read.
  Index next(const Sampling& sampling, Random& random, Where where = Where::current());
  /// The prediction for the next token, [V].
  const Tensor& logits() const { return logits_; }

 private:
  const LanguageModel& model_;
  Memory memory_;
  Tensor logits_;
};

}  // namespace segue
