#include "xl/tasks/brackets.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <map>
#include <utility>

#include "tests/support/random_inputs.hpp"
#include "tests/support/task_rows.hpp"

namespace segue::xl_brackets_test {

namespace {

// All ways to go on from `text`, with these brackets open, for `left` more tokens inside an outermost pair.
void extend(const Brackets& task, std::vector<Index> text, std::vector<Index> open, Index left,
            std::vector<std::vector<Index>>& all) {
  if (left == 0) {
    if (open.size() == 1) text.push_back(task.kinds + open[0]), all.push_back(text);
    return;
  }
  for (Index kind = 0; kind < task.kinds && static_cast<Index>(open.size()) < task.depth; ++kind) {
    text.push_back(kind), open.push_back(kind);
    extend(task, text, open, left - 1, all);
    text.pop_back(), open.pop_back();
  }
  if (open.size() < 2) return;
  text.push_back(task.kinds + open.back()), open.pop_back();
  extend(task, text, open, left - 1, all);
}
std::vector<std::vector<Index>> all_pairs(const Brackets& task) {
  std::vector<std::vector<Index>> all;
  for (Index kind = 0; kind < task.kinds; ++kind) extend(task, {kind}, {kind}, task.distance, all);
  return all;
}

// A text with the targets that it must have, found by a stack.
TaskRow answered(const Brackets& task, const std::vector<Index>& text) {
  TaskRow row;
  std::vector<std::pair<Index, Index>> open;  // kind and place
  for (const Index token : text) {
    const Index place = static_cast<Index>(row.tokens.size());
    if (token < task.kinds) {
      open.push_back({token, place});
    } else {
      REQUIRE(!open.empty());
      row.targets.back() = task.kinds + open.back().first;
      row.distances.back() = place - 1 - open.back().second;
      open.pop_back();
    }
    row.write(token);
  }
  return row;
}

}  // namespace

TEST_CASE("Brackets close what a stack says, in pairs of the right length that nest as deep as they may") {
  Random random(2);
  for (const Brackets task : {Brackets{2, 4, 14}, Brackets{3, 2, 6}, Brackets{1, 9, 4}, Brackets{5, 1, 0}}) {
    CAPTURE(task.distance);
    const Index length = 40 * (task.distance + 2), T = task.distance + 2;
    TaskRows source = bracket_rows(task, 2, T, length / T, random);
    for (const TaskRow& row : next_rows(source, length / T)) {
      CHECK(same_rows({row}, {answered(task, row.tokens)}));
      Index height = 0, highest = 0;
      for (Index t = 0; t < length; ++t) {
        const Index token = row.tokens[static_cast<std::size_t>(t)];
        CHECK((token >= 0 && token < 2 * task.kinds));
        height += token < task.kinds ? 1 : -1;
        highest = std::max(highest, height);
        CHECK((height == 0) == (t % (task.distance + 2) == task.distance + 1));
      }
      CHECK(highest == std::min(task.depth, task.distance / 2 + 1));
    }
  }
}

TEST_CASE("All ways to fill an outermost pair are equally likely") {
  const Brackets task = {2, 3, 6};
  const std::vector<std::vector<Index>> ways = all_pairs(task);
  CHECK(ways.size() == 4 * 16);  // four shapes no higher than 2, and four brackets of two kinds
  std::map<std::vector<Index>, double> counts;
  for (const std::vector<Index>& way : ways) counts[way] = 0;
  Random random(7);
  TaskRows source = bracket_rows(task, 1, 8, 6400, random);
  for (int n = 0; n < 6400; ++n) ++counts[source.next().inputs.ids];
  CHECK(counts.size() == ways.size());
  double statistic = 0;
  for (const auto& [way, count] : counts) statistic += (count - 100) * (count - 100) / 100;
  CHECK(statistic < 135);  // 63 degrees of freedom: chance passes 135 less than once in a million
}

TEST_CASE("The best loss is the entropy counted over all texts, given the tokens within reach") {
  for (const Brackets task : {Brackets{2, 3, 6}, Brackets{2, 4, 6}, Brackets{3, 2, 4}, Brackets{2, 1, 0}}) {
    const std::vector<std::vector<Index>> pairs = all_pairs(task);
    std::vector<TaskRow> texts;
    for (const std::vector<Index>& first : pairs) {
      if (texts.size() > 20 * pairs.size()) break;  // what is seen of the pair before tells nothing
      for (const std::vector<Index>& second : pairs) {
        std::vector<Index> text = first;
        text.insert(text.end(), second.begin(), second.end());
        texts.push_back(answered(task, text));
      }
    }
    for (Index reach = 0; reach <= task.distance + 2; ++reach) {
      CAPTURE(task.depth);
      CAPTURE(reach);
      const double counted = counted_entropy(texts, task.distance + 2, reach);
      CHECK(bracket_best_loss(task, reach) == doctest::Approx(counted).epsilon(1e-12));
    }
  }
}

TEST_CASE("The best loss of long pairs is ln kinds for the share of them that chance puts beyond reach") {
  const Brackets task = {4, 5, 60};
  Random random(5);
  TaskRows source = bracket_rows(task, 20, 62, 50, random);
  const std::vector<TaskRow> rows = next_rows(source, 50);
  for (const Index reach : {0, 1, 2, 8, 30, 59, 60}) {
    CAPTURE(reach);
    CHECK(bracket_best_loss(task, reach) == doctest::Approx(share_beyond(rows, reach) * std::log(4.0)).epsilon(0.05));
  }
  CHECK(bracket_best_loss(task, 59) == doctest::Approx(std::log(4.0) / 31).epsilon(1e-12));
  CHECK(bracket_best_loss(task, 60) == 0);
}

TEST_CASE("The longest and deepest brackets are still exact") {
  const Brackets task = {2, 2, 1000};  // the only way is () 500 times: a fair walk does that once in 2^1000
  Random random(1);
  TaskRows source = bracket_rows(task, 1, 1002, 1, random);
  CHECK(share_beyond(next_rows(source, 1), 0) == doctest::Approx(1.0 / 501));
  CHECK(bracket_best_loss(task, 0) == doctest::Approx(std::log(2.0) / 501).epsilon(1e-12));
  CHECK(bracket_best_loss({1, 4, 14}, 0) == 0);  // one kind is always right
}

TEST_CASE("The same seed gives the same brackets, wherever they are cut") {
  const auto rows = [](Index T, Index segments) {
    Random random(3);
    TaskRows source = bracket_rows({}, 3, T, segments, random);
    return next_rows(source, segments);
  };
  CHECK(same_rows(rows(5, 8), rows(5, 8)));
  CHECK(same_rows(rows(5, 8), rows(40, 1)));
}

TEST_CASE("Brackets that cannot be nested are an error that says why") {
  Random random(1);
  constexpr Index huge = std::numeric_limits<Index>::max();
  const auto rows = [&](const Brackets& task) { bracket_rows(task, 2, 4, 3, random); };
  CHECK(holds(message_of<ValueError>([&] { bracket_rows({2, 3, 5}, 2, 4, 3, random); }), "an even number"));
  CHECK(holds(message_of<ValueError>([&] { bracket_best_loss({2, 1, 4}, 3); }), "need a depth of 2"));
  CHECK(holds(message_of<ValueError>([&] { bracket_best_loss({}, -1); }), "a reach of -1"));
  CHECK_THROWS_AS(rows({0, 3, 4}), ValueError);
  CHECK_THROWS_AS(rows({huge, 3, 4}), ValueError);
  CHECK_THROWS_AS(rows({2, 0, 4}), ValueError);
  CHECK_THROWS_AS(rows({2, 3, -2}), ValueError);
  CHECK_THROWS_AS(rows({2, 3, 1002}), ValueError);
  CHECK_THROWS_AS(bracket_rows({}, 0, 4, 3, random), ValueError);
  CHECK_NOTHROW(rows({2, huge, 4}));  // no deeper than there is room for
}

}  // namespace segue::xl_brackets_test
