#include "xl/tasks/associative_recall.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <set>

#include "tests/support/questions.hpp"
#include "tests/support/tensors.hpp"

namespace segue::xl_associative_recall_test {

namespace {

std::vector<std::vector<Index>> all_choices_of_keys(Index pairs, Index keys) {
  std::vector<std::vector<Index>> choices;
  for (const std::vector<Index>& text : all_texts(pairs, 0, keys)) {
    if (std::set<Index>(text.begin(), text.end()).size() == text.size()) choices.push_back(text);
  }
  return choices;
}

std::vector<PossibleQuestion> all_questions(const AssociativeRecall& task) {
  std::vector<PossibleQuestion> all;
  const auto choices = all_choices_of_keys(task.pairs, task.keys);
  const auto value_texts = all_texts(task.pairs, task.keys, task.values);
  for (Index gap = task.shortest; gap <= task.longest; ++gap) {
    const auto noises = all_texts(gap, task.keys + task.values, task.noise);
    const double probability = 1 / static_cast<double>(choices.size() * value_texts.size() * noises.size()) /
                               static_cast<double>(task.pairs * (task.longest - task.shortest + 1));
    for (const auto& keys : choices) {
      for (const auto& values : value_texts) {
        for (const auto& noise : noises) {
          std::vector<Index> tokens;
          for (std::size_t p = 0; p < keys.size(); ++p) tokens.insert(tokens.end(), {keys[p], values[p]});
          tokens.insert(tokens.end(), noise.begin(), noise.end());
          for (std::size_t p = 0; p < keys.size(); ++p) {
            Question question = {tokens, values[p]};
            question.tokens.push_back(keys[p]);
            all.push_back({question, probability});
          }
        }
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("A question is pairs with different keys, noise, and one of the keys; its answer is what stood behind it") {
  const AssociativeRecall task = {.pairs = 3, .keys = 4, .values = 5, .noise = 2, .shortest = 1, .longest = 6};
  CHECK(task.vocabulary() == 11);
  const QuestionSource draw = associative_recall_questions(task);
  Random random(2);
  std::set<std::size_t> gaps, asked;
  std::set<Index> symbols;
  for (int n = 0; n < 500; ++n) {
    const Question question = draw(random);
    const std::vector<Index>& tokens = question.tokens;
    REQUIRE(tokens.size() >= 8);
    gaps.insert(tokens.size() - 7);
    symbols.insert(tokens.begin(), tokens.end());
    std::set<Index> keys;
    for (std::size_t p = 0; p < 3; ++p) {
      const Index key = tokens[2 * p], value = tokens[2 * p + 1];
      CHECK((key >= 0 && key < 4));
      CHECK((value >= 4 && value < 9));
      keys.insert(key);
      if (key != tokens.back()) continue;
      CHECK(value == question.answer);
      asked.insert(p);
    }
    CHECK(keys.size() == 3);
    CHECK(keys.count(tokens.back()) == 1);
    for (std::size_t t = 6; t + 1 < tokens.size(); ++t) CHECK((tokens[t] >= 9 && tokens[t] < 11));
  }
  CHECK(gaps == std::set<std::size_t>{1, 2, 3, 4, 5, 6});
  CHECK(asked.size() == 3);
  CHECK(symbols.size() == 11);
}

TEST_CASE("Values are as likely as one another wherever the pair stands, and so is the place that is asked for") {
  const QuestionSource draw = associative_recall_questions({.pairs = 4, .keys = 8, .values = 8, .longest = 0});
  Random random(5);
  std::vector<double> counts(4 * 8, 0);
  for (int n = 0; n < 6400; ++n) {
    const Question question = draw(random);
    std::size_t place = 0;
    while (question.tokens[2 * place] != question.tokens.back()) ++place;
    ++counts[8 * place + static_cast<std::size_t>(question.answer - 8)];
  }
  double statistic = 0;
  for (const double count : counts) statistic += (count - 200) * (count - 200) / 200;
  CHECK(statistic < 85);  // 31 degrees of freedom: chance passes 85 less than once in a million
}

TEST_CASE("Every choice of keys, in every order, is as likely as any other") {
  const QuestionSource draw = associative_recall_questions({.pairs = 2, .keys = 3, .values = 1, .longest = 0});
  Random random(6);
  std::vector<double> counts(9, 0);  // first key, second key
  for (int n = 0; n < 6000; ++n) {
    const Question question = draw(random);
    ++counts[static_cast<std::size_t>(3 * question.tokens[0] + question.tokens[2])];
  }
  double statistic = 0;
  for (const Index different : {1, 2, 3, 5, 6, 7}) {
    const double count = counts[static_cast<std::size_t>(different)];
    statistic += (count - 1000) * (count - 1000) / 1000;
  }
  CHECK(statistic < 36);  // 5 degrees of freedom: chance passes 36 once in a million
}

TEST_CASE("The best accuracy and loss are those counted over all questions, given the tokens within reach") {
  for (const auto& [pairs, keys] : {std::pair<Index, Index>{1, 1}, {1, 3}, {2, 3}, {3, 3}}) {
    for (const Index values : {1, 2, 3}) {
      for (const auto& [shortest, longest] : {std::pair<Index, Index>{0, 0}, {2, 2}, {0, 3}}) {
        const AssociativeRecall task = {pairs, keys, values, 1, shortest, longest};
        const std::vector<PossibleQuestion> all = all_questions(task);
        for (Index reach = 0; reach <= 2 * pairs + longest + 1; ++reach) {
          CAPTURE(pairs);
          CAPTURE(keys);
          CAPTURE(values);
          CAPTURE(longest);
          CAPTURE(reach);
          const Best best = counted_best(all, reach);
          CHECK(associative_recall_best_accuracy(task, reach) == doctest::Approx(best.accuracy).epsilon(1e-12));
          CHECK(associative_recall_best_loss(task, reach) == doctest::Approx(best.loss).epsilon(1e-12));
        }
      }
    }
  }
}

TEST_CASE("Two of four pairs in sight answer half the questions, and the others are answered by chance") {
  const AssociativeRecall task = {.pairs = 4, .values = 8, .shortest = 100, .longest = 100};
  CHECK(associative_recall_best_accuracy(task, 100) == 0.125);
  CHECK(associative_recall_best_accuracy(task, 104) == doctest::Approx(0.5 + 0.5 / 8));
  CHECK(associative_recall_best_loss(task, 104) == doctest::Approx(0.5 * std::log(8.0)));
  CHECK(associative_recall_best_accuracy(task, 108) == 1);
  CHECK(associative_recall_best_loss(task, 108) == 0);
  CHECK(associative_recall_best_accuracy(task, std::numeric_limits<Index>::min()) == 0.125);
  CHECK(associative_recall_best_accuracy(task, std::numeric_limits<Index>::max()) == 1);
}

TEST_CASE("Numbers that make no sense are errors") {
  constexpr Index huge = std::numeric_limits<Index>::max();
  CHECK(holds(message_of<ValueError>([] { associative_recall_questions({.pairs = 0}); }), "0 pairs"));
  CHECK(
      holds(message_of<ValueError>([] { associative_recall_questions({.pairs = 9, .keys = 8}); }), "9 pairs, 8 keys"));
  CHECK(holds(message_of<ValueError>([] { associative_recall_questions({.values = 0}); }), "0 values"));
  CHECK(holds(message_of<ValueError>([] { associative_recall_questions({.noise = 0}); }), "0 noise"));
  CHECK(holds(message_of<ValueError>([] { associative_recall_questions({.shortest = -1}); }), "-1 .. 50"));
  CHECK_THROWS_AS(associative_recall_questions({.shortest = 5, .longest = 4}), ValueError);
  CHECK_THROWS_AS(associative_recall_questions({.longest = huge}), ValueError);
  CHECK_THROWS_AS(associative_recall_questions({.keys = huge}), ValueError);
  CHECK_THROWS_AS(associative_recall_best_accuracy({.pairs = 0}, 3), ValueError);
  CHECK_THROWS_AS(associative_recall_best_loss({.pairs = 0}, 3), ValueError);
}

}  // namespace segue::xl_associative_recall_test
