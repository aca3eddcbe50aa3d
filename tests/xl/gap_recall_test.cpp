#include "xl/tasks/gap_recall.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <set>

#include "tests/support/questions.hpp"
#include "tests/support/tensors.hpp"

namespace segue::xl_gap_recall_test {

namespace {

std::vector<PossibleQuestion> all_questions(const GapRecall& task) {
  std::vector<PossibleQuestion> all;
  for (Index gap = task.shortest; gap <= task.longest; ++gap) {
    const auto noises = all_texts(gap, task.keys, task.noise);
    for (const std::vector<Index>& noise : noises) {
      for (Index key = 0; key < task.keys; ++key) {
        Question question = {{key}, key};
        question.tokens.insert(question.tokens.end(), noise.begin(), noise.end());
        question.tokens.push_back(task.vocabulary() - 1);
        all.push_back({question, 1 / static_cast<double>(noises.size()) / static_cast<double>(task.keys) /
                                     static_cast<double>(task.longest - task.shortest + 1)});
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("A question is a key, noise that holds no key, and the query; its answer is the key") {
  const GapRecall task = {.keys = 3, .noise = 4, .shortest = 0, .longest = 9};
  CHECK(task.vocabulary() == 8);
  const QuestionSource draw = gap_recall_questions(task);
  Random random(1);
  std::set<std::size_t> gaps;
  std::set<Index> symbols;
  for (int n = 0; n < 500; ++n) {
    const Question question = draw(random);
    const std::vector<Index>& tokens = question.tokens;
    REQUIRE(tokens.size() >= 2);
    gaps.insert(tokens.size() - 2);
    symbols.insert(tokens.begin(), tokens.end());
    CHECK(question.answer == tokens.front());
    CHECK((tokens.front() >= 0 && tokens.front() < 3));
    CHECK(tokens.back() == 7);
    for (std::size_t t = 1; t + 1 < tokens.size(); ++t) CHECK((tokens[t] >= 3 && tokens[t] < 7));
  }
  CHECK(gaps.size() == 10);
  CHECK(*gaps.rbegin() == 9);
  CHECK(symbols.size() == 8);
}

TEST_CASE("Keys are as likely as one another, whatever the gap, so that who guesses is right once in `keys` times") {
  const QuestionSource draw = gap_recall_questions({.keys = 8, .noise = 2, .shortest = 0, .longest = 3});
  Random random(5);
  std::vector<double> counts(4 * 8, 0);
  constexpr int questions = 6400;
  for (int n = 0; n < questions; ++n) {
    const Question question = draw(random);
    ++counts[8 * (question.tokens.size() - 2) + static_cast<std::size_t>(question.answer)];
  }
  double statistic = 0;
  for (const double count : counts) statistic += (count - 200) * (count - 200) / 200;
  CHECK(statistic < 85);  // 31 degrees of freedom: chance passes 85 less than once in a million
}

TEST_CASE("The best accuracy and loss are those counted over all questions, given the tokens within reach") {
  for (const auto& [shortest, longest] : {std::pair<Index, Index>{0, 0}, {2, 2}, {0, 3}, {2, 4}}) {
    for (const Index keys : {1, 3}) {
      for (const Index noise : {1, 2}) {
        const GapRecall task = {.keys = keys, .noise = noise, .shortest = shortest, .longest = longest};
        const std::vector<PossibleQuestion> all = all_questions(task);
        for (Index reach = 0; reach <= longest + 2; ++reach) {
          CAPTURE(keys);
          CAPTURE(longest);
          CAPTURE(reach);
          const Best best = counted_best(all, reach);
          CHECK(gap_recall_best_accuracy(task, reach) == doctest::Approx(best.accuracy).epsilon(1e-12));
          CHECK(gap_recall_best_loss(task, reach) == doctest::Approx(best.loss).epsilon(1e-12));
        }
      }
    }
  }
}

TEST_CASE("With one gap the answer is known from the token on that reaches the key, and before it by chance") {
  const GapRecall task = {.keys = 8, .shortest = 100, .longest = 100};
  CHECK(gap_recall_best_accuracy(task, 100) == 0.125);
  CHECK(gap_recall_best_accuracy(task, 101) == 1);
  CHECK(gap_recall_best_loss(task, 100) == doctest::Approx(std::log(8.0)));
  CHECK(gap_recall_best_loss(task, 101) == 0);
  CHECK(gap_recall_best_accuracy(task, -1) == 0.125);
  CHECK(gap_recall_best_accuracy(task, std::numeric_limits<Index>::max()) == 1);
}

TEST_CASE("Numbers that make no sense are errors") {
  constexpr Index huge = std::numeric_limits<Index>::max();
  CHECK(holds(message_of<ValueError>([] { gap_recall_questions({.keys = 0}); }), "0 keys"));
  CHECK(holds(message_of<ValueError>([] { gap_recall_questions({.noise = 0}); }), "0 noise symbols"));
  CHECK(holds(message_of<ValueError>([] { gap_recall_questions({.shortest = -1}); }), "-1 .. 200"));
  CHECK_THROWS_AS(gap_recall_questions({.shortest = 5, .longest = 4}), ValueError);
  CHECK_THROWS_AS(gap_recall_questions({.longest = huge}), ValueError);
  CHECK_THROWS_AS(gap_recall_questions({.keys = huge, .noise = huge}), ValueError);
  CHECK_THROWS_AS(gap_recall_best_accuracy({.keys = 0}, 3), ValueError);
  CHECK_THROWS_AS(gap_recall_best_loss({.keys = 0}, 3), ValueError);
}

}  // namespace segue::xl_gap_recall_test
