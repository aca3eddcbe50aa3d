#include "xl/tasks/story.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include "tensor/fail.hpp"

namespace segue {
namespace {

// Digits are the places of facts. The word before each is found there only, so it tells which fact
// comes back.
constexpr const char* opening_pattern = "once 0 of 1 had a 2 .";
constexpr std::array<const char*, story_facts> return_patterns = {
    "then 0 slept .", "people in 1 danced .", "again the 2 played ."};
constexpr std::array<const char*, 6> plain_sentences = {"it began raining .", "one dog barked .",
                                                        "birds flew by .",    "snow fell softly .",
                                                        "night came soon .",  "wind shook trees ."};
constexpr std::array<const char*, story_facts> value_words = {
    "mia ben ida tom eva max zoe leo", "rome oslo york lima cairo bonn delhi perth",
    "drum flute harp lute horn fiddle cello pipe"};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool is_fact(const std::string& word) { return word[0] >= '0' && word[0] < '0' + story_facts; }

// The values of fact 0 are the first tokens, and so on.
std::vector<std::string> all_story_words() {
  std::vector<std::string> words;
  const auto add = [&](const std::string& text) {
    for (const std::string& word : words_of(text)) {
      if (!is_fact(word) && std::find(words.begin(), words.end(), word) == words.end())
        words.push_back(word);
    }
  };
  for (const char* values : value_words) add(values);
  add(opening_pattern);
  for (const char* sentence : return_patterns) add(sentence);
  for (const char* sentence : plain_sentences) add(sentence);
  return words;
}

// A sentence as tokens; fact f is -1 - f.
std::vector<Index> story_pattern(const std::string& sentence) {
  std::vector<Index> tokens;
  for (const std::string& word : words_of(sentence)) {
    const auto found = std::find(story_words().begin(), story_words().end(), word);
    tokens.push_back(is_fact(word) ? -1 - (word[0] - '0') : found - story_words().begin());
  }
  return tokens;
}

// The fact whose value a token is; -1 for none.
Index fact_of(Index token) {
  return token < story_facts * story_values ? token / story_values : -1;
}

using Facts = std::array<Index, story_facts>;  // tokens
Facts draw_facts(Random& random) {
  Facts facts{};
  for (Index f = 0; f < story_facts; ++f)
    facts[static_cast<std::size_t>(f)] = f * story_values + random.below(story_values);
  return facts;
}

std::vector<Index> with_facts(std::vector<Index> pattern, const Facts& facts) {
  for (Index& token : pattern) {
    if (token < 0) token = facts[static_cast<std::size_t>(-1 - token)];
  }
  return pattern;
}

// Values become the fact they belong to, so that a sentence can be compared with the patterns.
std::vector<Index> without_facts(std::vector<Index> sentence) {
  for (Index& token : sentence) {
    if (fact_of(token) >= 0) token = -1 - fact_of(token);
  }
  return sentence;
}

const std::vector<std::vector<Index>>& sentence_patterns() {
  static const std::vector<std::vector<Index>> patterns = [] {
    std::vector<std::vector<Index>> all;
    for (const char* sentence : return_patterns) all.push_back(story_pattern(sentence));
    for (const char* sentence : plain_sentences) all.push_back(story_pattern(sentence));
    return all;
  }();
  return patterns;
}

std::vector<Index> draw_sentence(const Facts& facts, Random& random) {
  const Index plain = static_cast<Index>(plain_sentences.size());
  const Index n = random.uniform() < story_return ? random.below(story_facts)
                                                  : story_facts + random.below(plain);
  return with_facts(sentence_patterns()[static_cast<std::size_t>(n)], facts);
}

}  // namespace

const std::vector<std::string>& story_words() {
  static const std::vector<std::string> words = all_story_words();
  return words;
}

std::string story_text(const std::vector<Index>& tokens, Where where) {
  std::string text;
  const Index V = static_cast<Index>(story_words().size());
  for (const Index token : tokens) {
    if (token < 0 || token >= V)
      fail<RangeError>(where, "stories have words 0 .. {}, not {}", V - 1, token);
    text += (text.empty() ? "" : " ") + story_words()[static_cast<std::size_t>(token)];
  }
  return text;
}

std::vector<Index> story_opening(Random& random) {
  return with_facts(story_pattern(opening_pattern), draw_facts(random));
}

TaskRows story_rows(Index B, Index T, Index segments, Random& random, Where where) {
  const auto write_on = [facts = Facts{}, mentioned = Facts{}, &random](TaskRow& row) mutable {
    const bool opens = row.tokens.empty();
    if (opens) facts = draw_facts(random);
    for (const Index token :
         opens ? with_facts(story_pattern(opening_pattern), facts) : draw_sentence(facts, random)) {
      const Index place = static_cast<Index>(row.tokens.size());
      if (place > 0) row.targets.back() = token;
      if (fact_of(token) >= 0) {
        Index& last = mentioned[static_cast<std::size_t>(fact_of(token))];
        if (!opens) row.distances.back() = place - 1 - last;
        last = place;
      }
      row.write(token);
    }
  };
  return TaskRows(B, T, segments, write_on, where);
}

StoryReading read_story(const std::vector<Index>& text, Where where) {
  story_text(text, where);  // are they all words?
  const std::vector<Index> opening = story_pattern(opening_pattern);
  const auto begin =
      text.begin() + static_cast<std::ptrdiff_t>(std::min(text.size(), opening.size()));
  if (without_facts({text.begin(), begin}) != opening) {
    fail<ValueError>(where, "this is no opening of a story: {}", story_text({text.begin(), begin}));
  }
  StoryReading reading;
  Facts first{}, last{}, mentioned{};
  std::vector<Index> sentence;
  for (auto at = text.begin(); at != text.end(); ++at) {
    const Index place = at - text.begin(), fact = fact_of(*at);
    if (fact >= 0) {
      const auto f = static_cast<std::size_t>(fact);
      if (at < begin) {
        first[f] = *at;
      } else {
        reading.mentions.push_back(
            {place, fact, place - 1 - mentioned[f], *at == last[f], *at == first[f]});
      }
      last[f] = *at;
      mentioned[f] = place;
    }
    if (at < begin) continue;
    sentence.push_back(*at);
    if (*at != opening.back()) continue;
    const auto& patterns = sentence_patterns();
    ++reading.sentences;
    if (std::find(patterns.begin(), patterns.end(), without_facts(sentence)) != patterns.end())
      ++reading.well_formed;
    sentence.clear();
  }
  return reading;
}

}  // namespace segue
