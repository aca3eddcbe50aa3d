#include "xl/tools/dialogue.hpp"

#include <algorithm>

#include "tensor/fail.hpp"

namespace segue {
namespace {

void check_dialogue(const DialogueOptions& options, Index V, Where where) {
  const TurnMarks& m = options.marks;
  const bool different = m.you != m.me && m.you != m.end && m.me != m.end;
  if (!different || std::min({m.you, m.me, m.end}) < 0 || std::max({m.you, m.me, m.end}) >= V) {
    fail<ValueError>(where,
                     "dialogue: the marks {}, {} and {} must be three different tokens of 0 .. {}",
                     m.you, m.me, m.end, V - 1);
  }
  if (options.turn_length < 1 || options.turn_limit < 1) {
    fail<ValueError>(where, "dialogue: {} turns of {} words; expected at least 1 of each",
                     options.turn_limit, options.turn_length);
  }
}

void check_turn(const std::vector<Index>& turn, const DialogueOptions& options, Where where) {
  if (turn.empty()) fail<ValueError>(where, "dialogue: a turn needs at least one word");
  const Index words = static_cast<Index>(turn.size());
  if (words > options.turn_length) {
    fail<ValueError>(where, "dialogue: a turn of {} words; at most {} fit", words,
                     options.turn_length);
  }
  for (const Index token : turn) {
    if (token == options.marks.you || token == options.marks.me || token == options.marks.end) {
      fail<ValueError>(where, "dialogue: token {} is a mark between turns and cannot be said",
                       token);
    }
  }
}

}  // namespace

Dialogue::Dialogue(const LanguageModel& model, const DialogueOptions& options, std::uint64_t seed,
                   Where where)
    : model_(&model),
      options_(options),
      random_(seed),
      generator_(model, options.memory_length, where) {
  check_dialogue(options, model.config.vocabulary, where);
}

void Dialogue::forget() {
  generator_ = Generator(*model_, options_.memory_length);
  turns_ = 0;
}

std::vector<Index> Dialogue::say(const std::vector<Index>& turn, Where where) {
  check_turn(turn, options_, where);
  if (turns_ == options_.turn_limit) {
    fail<ValueError>(where, "dialogue: all {} turns are taken; forget() begins anew",
                     options_.turn_limit);
  }
  Generator generator = generator_;  // copies, so that an error leaves all as it was
  Random random = random_;
  std::vector<Index> text = {options_.marks.you};
  text.insert(text.end(), turn.begin(), turn.end());
  text.insert(text.end(), {options_.marks.end, options_.marks.me});
  generator.read(text, where);

  std::vector<Index> reply;
  Index token = generator.next(options_.sampling, random, where);
  while (token != options_.marks.end &&
         static_cast<Index>(reply.size()) + 1 < options_.turn_length) {
    reply.push_back(token);
    token = generator.next(options_.sampling, random, where);
  }
  if (token != options_.marks.end) {  // cut off: what was read must still end like a turn
    reply.push_back(token);
    generator.read({options_.marks.end}, where);
  }
  generator_ = generator;
  random_ = random;
  ++turns_;
  return reply;
}

}  // namespace segue
