// Stories, simple enough that whoever reads one can say where it contradicts itself.
//
//   once mia of rome had a drum . it began raining . people in rome danced . birds flew by . then
//   mia slept . ..
//
// The opening draws a name, a town and an instrument. From then on these three come back, each in a
// sentence of its own, between sentences that are true of any story. What comes back must be what
// it was: that is the only thing in the language that hangs on more than the sentence it stands in.
#pragma once

#include <string>
#include <vector>

#include "tensor/random.hpp"
#include "xl/tasks/task_rows.hpp"

namespace segue {

/// All words, each at the place of its token.
const std::vector<std::string>& story_words();
/// Tokens as words with blanks between them. Throws RangeError for a token that is none of its
/// words.
std::string story_text(const std::vector<Index>& tokens, Where where = Where::current());

/// A story has so many facts, and each fact so many values, one as likely as the other: who has
/// forgotten a fact is right once in so many times.
inline constexpr Index story_facts = 3, story_values = 8;
/// How likely a sentence brings back a fact, whichever, instead of none.
inline constexpr double story_return = 0.5;

/// The first sentence of a story.
std::vector<Index> story_opening(Random& random);

/// Stories to learn to write from: every row is one, cut into segments, and the target of each
/// token is the next one. Distances are those of the mentions, -1 at all other tokens. Throws
/// ValueError as TaskRows does.
TaskRows story_rows(Index B, Index T, Index segments, Random& random,
                    Where where = Where::current());

/// A fact that comes back.
struct StoryMention {
  Index place;     // of its value in the text
  Index fact;      // which: 0 name, 1 town, 2 instrument
  Index distance;  // from the word before, which predicts the value, back to the last mention of
                   // the fact
  bool repeats;    // whether the value is that of the last mention
  bool true_to_opening;  // and that of the opening: a story may contradict itself and then stick to
                         // that
};

/// What can be said of a story, whoever wrote it.
struct StoryReading {
  std::vector<StoryMention> mentions;  // behind the opening
  Index sentences = 0;                 // whole ones behind the opening
  Index well_formed = 0;  // how many of them are sentences of the language, with whatever values
};
/// Throws ValueError for a text that does not begin with an opening, RangeError for a token that is
/// no word.
StoryReading read_story(const std::vector<Index>& text, Where where = Where::current());

}  // namespace segue
