// A toy world to talk about. You tell facts, ask for them many turns later, and talk of other
// things in between:
//
//   <you> the key is in the red box <end> <me> ok <end>
//   <you> how are you <end> <me> fine thanks <end>
//   <you> where is the key <end> <me> in the red box <end>
//
// Every fact is drawn anew in every dialogue, each of its values as likely as any other: only who
// remembers that it was said can answer. A fact changes only after nobody has mentioned it for
// long.
#pragma once

#include <string>
#include <vector>

#include "tensor/random.hpp"
#include "xl/tasks/task_rows.hpp"
#include "xl/tools/dialogue.hpp"

namespace segue {

/// All words, each at the place of its token. The first three are the marks.
const std::vector<std::string>& toy_words();
TurnMarks toy_marks();
/// Values that each fact may have: by chance one answer in so many is right.
inline constexpr Index toy_values = 8;

/// The words of a turn as tokens; capitals and punctuation do not count. Throws ValueError for a
/// word that the world does not have, naming those it has.
std::vector<Index> toy_tokens(const std::string& text, Where where = Where::current());
/// Tokens as words with blanks between them. Throws RangeError for a token that is none of its
/// words.
std::string toy_text(const std::vector<Index>& tokens, Where where = Where::current());

/// A turn of yours, and the reply it should get.
struct Exchange {
  std::vector<Index> said, reply;
  Index answer = -1;  // of a question: the place in `reply` of the word that has to be remembered
  Index distance =
      -1;  // and how many tokens before the one that predicts this word it was last mentioned
};

/// One endless dialogue.
class ToyTalk {
 public:
  /// Asks for nothing that was last mentioned more than `farthest` tokens ago. Throws ValueError
  /// when it is below 1.
  explicit ToyTalk(Index farthest, Where where = Where::current());
  Exchange next(Random& random);

 private:
  struct Fact {
    Index value = 0,
          mentioned = -1;  // the place in the dialogue where its value was said last; -1 for never
  };
  Exchange tell(std::size_t topic, Random& random);
  Exchange ask(std::size_t topic);
  Index distance(std::size_t topic) const;

  Index farthest_, length_ = 0;  // length_: tokens so far, marks included
  std::vector<Fact> facts_;
};

/// Dialogues side by side, to train on. The targets are the tokens of the replies and the mark that
/// ends them.
class ToyWorld {
 public:
  /// B dialogues in segments of T tokens; after `segments` of them all begin anew. Throws
  /// ValueError for a length below 1 or beyond all use.
  ToyWorld(Index farthest, Index B, Index T, Index segments, Random& random,
           Where where = Where::current());

  Batch next();
  /// Of each target in the last batch that has to be remembered, its distance as in Exchange; -1
  /// elsewhere. [B, T]
  const Tokens& distances() const { return rows_.distances(); }

 private:
  TaskRows rows_;
};

/// A question, how far back its answer was mentioned, and whether the model's likeliest word in its
/// place was right.
struct Recall {
  Index distance;
  bool right;
};

/// The questions in the next `batches` batches of the world, put to a model with a memory of any
/// length.
std::vector<Recall> recall(const LanguageModel& model, ToyWorld& world, Index batches,
                           Index memory_length, Where where = Where::current());

}  // namespace segue
