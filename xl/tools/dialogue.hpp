// A dialogue: turns of yours and of the model's, in one endless text that only the memory keeps.
//
//   <you> where is the key <end> <me> in the red box <end> <you> ..
//
// Nothing is read twice. A turn costs what its own tokens cost, however long the dialogue has
// lasted, and the replies are those that reading the whole history again would give, while the
// memory covers it.
#pragma once

#include <optional>
#include <vector>

#include "xl/tools/generation.hpp"

namespace segue {

/// Tokens that stand between the words: what begins a turn of yours, what begins one of the
/// model's, what ends either.
struct TurnMarks {
  Index you, me, end;
};

struct DialogueOptions {
  TurnMarks marks;
  Sampling sampling = {.temperature = 0};   // greedy
  std::optional<Index> memory_length = {};  // M; that of the training when none is given
  Index turn_length = 32;                   // the most words of a turn; a reply is ended there
  Index turn_limit = 1000;                  // the most turns of yours
};

/// It must not outlive its model.
class Dialogue {
 public:
  /// Throws ValueError for a limit below 1, a memory below 0, or marks that are not three different
  /// tokens of the model.
  Dialogue(const LanguageModel& model, const DialogueOptions& options, std::uint64_t seed = 1,
           Where where = Where::current());

  /// Your words, without marks -> the model's, without marks. Throws ValueError for a turn that is
  /// empty or too long or holds a mark, and when turn_limit turns were taken; RangeError for a
  /// token outside the vocabulary. An error leaves the dialogue as it was.
  std::vector<Index> say(const std::vector<Index>& turn, Where where = Where::current());
  /// Begins anew, with an empty memory and no turn taken.
  void forget();

  /// Turns of yours so far.
  Index turns() const { return turns_; }
  /// Tokens read since the dialogue began, marks included: what it has cost.
  Index tokens_read() const { return generator_.memory().tokens_read[0]; }
  /// The prediction for the token after all that was read, [V].
  const Tensor& logits() const { return generator_.logits(); }

 private:
  const LanguageModel* model_;
  DialogueOptions options_;
  Random random_;
  Generator generator_;
  Index turns_ = 0;
};

}  // namespace segue
