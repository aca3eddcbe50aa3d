#include "xl/tasks/toy_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "nn/loss.hpp"
#include "tensor/fail.hpp"

namespace segue {
namespace {

// A "*" is the place of the value.
struct Topic {
  std::string told, asked, answered;
  std::vector<std::string> values;
};
const std::vector<Topic>& topics() {
  static const std::vector<Topic> all = {
      {"the key is in the * box",
       "where is the key",
       "in the * box",
       {"red", "blue", "green", "yellow", "black", "white", "brown", "grey"}},
      {"my name is *",
       "what is my name",
       "you are *",
       {"ann", "ben", "cleo", "dan", "eve", "finn", "gus", "ida"}},
      {"i come from *",
       "where do i come from",
       "from *",
       {"rome", "oslo", "york", "lima", "cairo", "bonn", "delhi", "perth"}},
      {"the cat eats *",
       "what does the cat eat",
       "it eats *",
       {"fish", "bread", "cheese", "rice", "cake", "eggs", "soup", "plums"}},
      {"we meet at *",
       "when do we meet",
       "at *",
       {"one", "two", "three", "four", "five", "six", "seven", "eight"}},
  };
  return all;
}

struct SmallTalk {
  std::string said, replied;
};
const std::vector<SmallTalk>& small_talk() {
  static const std::vector<SmallTalk> all = {{"hello", "hello"},
                                             {"how are you", "fine thanks"},
                                             {"it rains again", "so it does"},
                                             {"i am tired", "then sleep"}};
  return all;
}

constexpr Index mark_count = 3;

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isspace(u) != 0 && !words.back().empty()) words.emplace_back();
    if (std::isalnum(u) != 0 || u >= 128 || c == '*')
      words.back() += static_cast<char>(std::tolower(u));
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::vector<std::string> collect_words() {
  std::vector<std::string> words = {"<you>", "<me>", "<end>"};
  const auto add_words = [&](const std::string& text) {
    for (const std::string& word : split_words(text)) {
      if (word != "*" && std::find(words.begin(), words.end(), word) == words.end())
        words.push_back(word);
    }
  };
  for (const Topic& topic : topics()) {
    for (const std::string& sentence : {topic.told, topic.asked, topic.answered})
      add_words(sentence);
    for (const std::string& value : topic.values) add_words(value);
  }
  add_words("ok");
  for (const SmallTalk& talk : small_talk()) add_words(talk.said + " " + talk.replied);
  return words;
}

std::string with_value(std::string sentence, const std::string& value) {
  return sentence.replace(sentence.find('*'), 1, value);
}

// The place of "*" among the words of a sentence.
Index value_place(const std::string& sentence) {
  const std::vector<std::string> words = split_words(sentence);
  return std::find(words.begin(), words.end(), "*") - words.begin();
}

// Where the words of a turn and of its reply stand behind the marks, <you> said <end> <me> reply
// <end>.
constexpr Index said_place = 1;
Index reply_place(const std::vector<Index>& said) { return static_cast<Index>(said.size()) + 3; }

}  // namespace

const std::vector<std::string>& toy_words() {
  static const std::vector<std::string> words = collect_words();
  return words;
}

TurnMarks toy_marks() { return {0, 1, 2}; }

std::vector<Index> toy_tokens(const std::string& text, Where where) {
  const auto first = toy_words().begin() + mark_count, end = toy_words().end();
  std::vector<Index> tokens;
  for (const std::string& word : split_words(text)) {
    const auto found = std::find(first, end, word);
    if (found == end) {
      fail<ValueError>(where, "the toy world has no word \"{}\"; it has: {}", word,
                       fmt::join(first, end, " "));
    }
    tokens.push_back(found - toy_words().begin());
  }
  return tokens;
}

std::string toy_text(const std::vector<Index>& tokens, Where where) {
  std::string text;
  const Index V = static_cast<Index>(toy_words().size());
  for (const Index token : tokens) {
    if (token < 0 || token >= V)
      fail<RangeError>(where, "the toy world has words 0 .. {}, not {}", V - 1, token);
    text += (text.empty() ? "" : " ") + toy_words()[static_cast<std::size_t>(token)];
  }
  return text;
}

ToyTalk::ToyTalk(Index farthest, Where where) : farthest_(farthest), facts_(topics().size()) {
  if (farthest < 1)
    fail<ValueError>(where, "toy world: nothing can be asked for at a distance of {}", farthest);
}

// From the last mention of the value to the token that would predict it, if it were asked for now.
Index ToyTalk::distance(std::size_t topic) const {
  const Index answer =
      reply_place(toy_tokens(topics()[topic].asked)) + value_place(topics()[topic].answered);
  return length_ + answer - 1 - facts_[topic].mentioned;
}

Exchange ToyTalk::tell(std::size_t topic, Random& random) {
  Fact& fact = facts_[topic];
  fact.value = random.below(toy_values);
  fact.mentioned = length_ + said_place + value_place(topics()[topic].told);
  const std::string& value = topics()[topic].values[static_cast<std::size_t>(fact.value)];
  return {toy_tokens(with_value(topics()[topic].told, value)), toy_tokens("ok")};
}

Exchange ToyTalk::ask(std::size_t topic) {
  Fact& fact = facts_[topic];
  const Topic& t = topics()[topic];
  const Exchange exchange = {
      toy_tokens(t.asked),
      toy_tokens(with_value(t.answered, t.values[static_cast<std::size_t>(fact.value)])),
      value_place(t.answered), distance(topic)};
  fact.mentioned = length_ + reply_place(exchange.said) + exchange.answer;
  return exchange;
}

Exchange ToyTalk::next(Random& random) {
  std::vector<Index> known, unknown;
  for (std::size_t topic = 0; topic < facts_.size(); ++topic) {
    const bool knows = facts_[topic].mentioned >= 0 && distance(topic) <= farthest_;
    (knows ? known : unknown).push_back(static_cast<Index>(topic));
  }
  const auto any = [&](const std::vector<Index>& all) {
    return static_cast<std::size_t>(
        all[static_cast<std::size_t>(random.below(static_cast<Index>(all.size())))]);
  };
  Exchange exchange;
  if (!unknown.empty() && random.uniform() < 0.5) {
    exchange = tell(any(unknown), random);
  } else if (!known.empty() && random.uniform() < 0.7) {
    exchange = ask(any(known));
  } else {
    const SmallTalk& talk = small_talk()[static_cast<std::size_t>(
        random.below(static_cast<Index>(small_talk().size())))];
    exchange = {toy_tokens(talk.said), toy_tokens(talk.replied)};
  }
  length_ += reply_place(exchange.said) + static_cast<Index>(exchange.reply.size()) + 1;
  return exchange;
}

namespace {

// One exchange behind a row. What is written at a token is the target of the one before it.
void write_exchange(TaskRow& row, const Exchange& exchange) {
  const auto write = [&](Index token, Index target, Index distance) {
    if (!row.tokens.empty()) {
      row.targets.back() = target;
      row.distances.back() = distance;
    }
    row.write(token);
  };
  const TurnMarks marks = toy_marks();
  write(marks.you, ignored_target, -1);
  for (const Index word : exchange.said) write(word, ignored_target, -1);
  write(marks.end, ignored_target, -1);
  write(marks.me, ignored_target, -1);
  for (Index place = 0; place < static_cast<Index>(exchange.reply.size()); ++place) {
    const Index word = exchange.reply[static_cast<std::size_t>(place)];
    write(word, word, place == exchange.answer ? exchange.distance : -1);
  }
  write(marks.end, marks.end, -1);
}

TaskRows toy_rows(Index farthest, Index B, Index T, Index segments, Random& random, Where where) {
  constexpr Index most = Index(1) << 30;  // so that products can be counted
  if (std::min({farthest, B, T, segments}) < 1 || std::max({farthest, B, T, segments}) > most) {
    fail<ValueError>(
        where, "toy world: distance {}, rows {}, segment {} and segments {} must be in 1 .. {}",
        farthest, B, T, segments, most);
  }
  const auto write_on = [&random, farthest, talk = ToyTalk(farthest)](TaskRow& row) mutable {
    if (row.tokens.empty()) talk = ToyTalk(farthest);
    write_exchange(row, talk.next(random));
  };
  return TaskRows(B, T, segments, write_on, where);
}

}  // namespace

ToyWorld::ToyWorld(Index farthest, Index B, Index T, Index segments, Random& random, Where where)
    : rows_(toy_rows(farthest, B, T, segments, random, where)) {}

Batch ToyWorld::next() { return rows_.next(); }

std::vector<Recall> recall(const LanguageModel& model, ToyWorld& world, Index batches,
                           Index memory_length, Where where) {
  const NoGradientGuard no_gradient;
  std::vector<Recall> questions;
  Memory memory;
  for (Index n = 0; n < batches; ++n) {
    const Batch batch = world.next();
    if (n == 0) memory = empty_memory(model.config, batch.inputs.shape[0], memory_length, where);
    const Output output =
        model(batch.inputs, reset_rows(memory, batch.resets), Mode::evaluate(), where);
    memory = output.memory;
    const std::vector<Real> logits = output.logits.value().to_vector();  // [B, T, V]
    const Index V = output.logits.dim(-1);
    for (Index k = 0; k < batch.targets.size(); ++k) {
      if (world.distances()[k] < 0) continue;
      const auto row = logits.begin() + k * V;
      const Index likeliest = std::max_element(row, row + V) - row;
      questions.push_back({world.distances()[k], likeliest == batch.targets[k]});
    }
  }
  return questions;
}

}  // namespace segue
