// Writing on: one token a step, everything before it in the memory. One text, or several side by
// side.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "xl/language_model.hpp"

namespace segue {

struct Sampling {
  Real temperature = 1;  // 0 takes the likeliest token
  Index top_k = 0;       // only the k likeliest; 0 is off
  Real top_p = 1;        // only the likeliest that together have this probability, at least one
};

/// Draws a token from softmax(logits / temperature). Throws ValueError for a temperature or top_k
/// below 0, an infinite temperature, a top_p outside (0, 1], and logits that are NaN or all
/// -infinity.
Index sample(const Tensor& logits, const Sampling& sampling, Random& random,
             Where where = Where::current());

/// A text that is being continued. It must not outlive its model.
class Generator {
 public:
  /// It remembers `memory_length` tokens, or as many as the model did in training. Throws
  /// ValueError for a length below 0.
  explicit Generator(const LanguageModel& model, std::optional<Index> memory_length = {},
                     Where where = Where::current());

  /// Reads tokens, in segments of the model's training length. The same as reading them one by one
  /// while the memory covers the text.
  void read(const std::vector<Index>& tokens, Where where = Where::current());
  /// Draws the next token and reads it. Throws ValueError before anything was read.
  Index next(const Sampling& sampling, Random& random, Where where = Where::current());
  /// The prediction for the next token, [V].
  const Tensor& logits() const { return logits_; }
  const Memory& memory() const { return memory_; }

 private:
  std::shared_ptr<const LanguageModel> model_;
  Memory memory_;
  Tensor logits_;
};

/// Rows of one memory each as the rows of one: the shorter ones get zeros in front, which no query
/// may see.
Memory join_rows(const std::vector<Memory>& rows, Where where = Where::current());

struct GenerationOptions {
  Sampling sampling{};
  Index length = 100;                       // tokens to write, at most
  Index stop_token = -1;                    // a text ends before this token; -1 is none
  std::optional<Index> memory_length = {};  // M; that of the training when none is given
};

/// Continues prompts of any lengths side by side, each as if it were alone: row b draws from
/// random[b], and its text is what a Generator would write. Throws ValueError for an empty prompt,
/// a negative length or another number of random generators than of prompts; RangeError for a token
/// outside the vocabulary.
std::vector<std::vector<Index>> generate(const LanguageModel& model,
                                         const std::vector<std::vector<Index>>& prompts,
                                         const GenerationOptions& options,
                                         std::vector<Random>& random,
                                         Where where = Where::current());

}  // namespace segue
