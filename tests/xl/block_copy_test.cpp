#include "xl/tasks/block_copy.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <map>

#include "tests/support/random_inputs.hpp"
#include "tests/support/task_rows.hpp"

namespace segue::xl_block_copy_test {

namespace {

// Number n in base `base`, `count` digits of it.
std::vector<Index> digits(Index n, Index base, Index count) {
  std::vector<Index> all;
  for (; static_cast<Index>(all.size()) < count; n /= base) all.push_back(n % base);
  return all;
}

// An episode with its targets, from nothing but its first `spread + gap` tokens. Distances are left out.
void answer(TaskRow& row, const BlockCopy& task, const std::vector<Index>& question) {
  std::vector<Index> block;
  for (const Index token : question) {
    row.write(token);
    if (token < task.symbols) block.push_back(token);
  }
  if (task.reversed) block = std::vector<Index>(block.rbegin(), block.rend());
  row.write(2 * task.symbols);
  for (const Index symbol : block) {
    row.targets.back() = symbol;
    row.write(symbol);
  }
}

// Every question there can be, once: symbols among noise, in all places, then noise in the gap.
std::vector<std::vector<Index>> all_questions(const BlockCopy& task) {
  const Index length = task.spread + task.gap, V = 2 * task.symbols;
  Index count = 1;
  for (Index n = 0; n < length; ++n) count *= V;
  std::vector<std::vector<Index>> all;
  for (Index n = 0; n < count; ++n) {
    const std::vector<Index> question = digits(n, V, length);
    Index in_spread = 0, in_gap = 0;
    for (Index t = 0; t < length; ++t) {
      if (question[static_cast<std::size_t>(t)] < task.symbols) ++(t < task.spread ? in_spread : in_gap);
    }
    if (in_spread == task.block && in_gap == 0) all.push_back(question);
  }
  return all;
}

}  // namespace

TEST_CASE("The answer is the block without its noise, in order or in reverse, exactly its distance behind it") {
  Random random(2);
  for (const BlockCopy task : {BlockCopy{8, 4, 8, 4, false}, BlockCopy{8, 4, 8, 4, true}, BlockCopy{3, 5, 5, 0, false},
                               BlockCopy{3, 5, 5, 0, true}, BlockCopy{2, 1, 6, 3, true}}) {
    const Index length = block_copy_length(task), episodes = 30;
    CHECK(length == task.spread + task.gap + 1 + task.block);
    TaskRows source = block_copy_rows(task, 3, length, episodes, random);
    for (const TaskRow& row : next_rows(source, episodes)) {
      TaskRow expected;
      for (Index n = 0; n < episodes; ++n) {
        const auto first = row.tokens.begin() + n * length;
        answer(expected, task, std::vector<Index>(first, first + task.spread + task.gap));
      }
      CHECK(row.tokens == expected.tokens);
      CHECK(row.targets == expected.targets);
      Index count = 0;
      for (std::size_t t = 0; t < row.tokens.size(); ++t) {
        CHECK((row.tokens[t] >= 0 && row.tokens[t] <= 2 * task.symbols));
        CHECK((row.distances[t] < 0) == (row.targets[t] == ignored_target));
        if (row.distances[t] < 0) continue;
        // Behind the symbol that is meant come exactly as many symbols of the block as its place in the answer says.
        const std::size_t source_place = t - static_cast<std::size_t>(row.distances[t]);
        const Index mark = static_cast<Index>(t) - count % task.block, k = count % task.block;
        CHECK(row.tokens[source_place] == row.targets[t]);
        Index behind = 0;
        for (Index at = static_cast<Index>(source_place) + 1; at < mark; ++at) {
          behind += row.tokens[static_cast<std::size_t>(at)] < task.symbols ? 1 : 0;
        }
        CHECK(behind == (task.reversed ? k : task.block - 1 - k));
        ++count;
      }
      CHECK(count == episodes * task.block);
    }
  }
}

TEST_CASE("All questions are equally likely") {
  const BlockCopy task = {2, 2, 3, 1, false};
  const std::vector<std::vector<Index>> questions = all_questions(task);
  CHECK(questions.size() == 3 * 4 * 2 * 2);
  std::map<std::vector<Index>, double> counts;
  for (const std::vector<Index>& question : questions) counts[question] = 0;
  Random random(7);
  TaskRows source = block_copy_rows(task, 1, block_copy_length(task), 4800, random);
  for (int n = 0; n < 4800; ++n) {
    const Batch batch = source.next();
    ++counts[{batch.inputs.ids.begin(), batch.inputs.ids.begin() + 4}];
  }
  CHECK(counts.size() == questions.size());
  double statistic = 0;
  for (const auto& [question, count] : counts) statistic += (count - 100) * (count - 100) / 100;
  CHECK(statistic < 110);  // 47 degrees of freedom: chance passes 110 about once in a million
}

TEST_CASE("The best loss is the entropy counted over all texts, given the tokens within reach") {
  for (const bool reversed : {false, true}) {
    for (const BlockCopy task : {BlockCopy{2, 2, 4, 1, reversed}, BlockCopy{2, 3, 4, 0, reversed},
                                 BlockCopy{3, 2, 2, 1, reversed}, BlockCopy{2, 1, 4, 1, reversed}}) {
      const Index length = block_copy_length(task);
      std::vector<TaskRow> texts;
      for (const std::vector<Index>& question : all_questions(task)) {
        TaskRow text;
        answer(text, task, std::vector<Index>(question.rbegin() + task.gap, question.rend()));  // something before it
        const Index before = static_cast<Index>(text.tokens.size());
        answer(text, task, question);
        REQUIRE(before == length - task.gap);
        texts.push_back(text);
      }
      for (Index reach = 0; reach <= length; ++reach) {
        CAPTURE(reversed);
        CAPTURE(task.block);
        CAPTURE(reach);
        const double counted = counted_entropy(texts, length - task.gap, reach);
        CHECK(block_copy_best_loss(task, reach) == doctest::Approx(counted).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE(
    "Without noise in between one distance decides; the rest is ln symbols for the share that chance puts beyond") {
  // In order, every symbol of a dense block is spread + gap back; in reverse from gap + 1 on in steps of two.
  CHECK(block_copy_best_loss({8, 4, 4, 6, false}, 9) == doctest::Approx(std::log(8.0)).epsilon(1e-12));
  CHECK(block_copy_best_loss({8, 4, 4, 6, false}, 10) == 0);
  CHECK(block_copy_best_loss({8, 4, 4, 6, true}, 6) == doctest::Approx(std::log(8.0)).epsilon(1e-12));
  CHECK(block_copy_best_loss({8, 4, 4, 6, true}, 7) == doctest::Approx(0.75 * std::log(8.0)).epsilon(1e-12));
  CHECK(block_copy_best_loss({8, 4, 4, 6, true}, 13) == 0);
  Random random(5);
  for (const bool reversed : {false, true}) {
    const BlockCopy task = {5, 6, 30, 10, reversed};
    TaskRows source = block_copy_rows(task, 20, block_copy_length(task), 50, random);
    const std::vector<TaskRow> rows = next_rows(source, 50);
    for (const Index reach : {10, 15, 25, 35, 40, 44}) {
      CAPTURE(reach);
      const double expected = share_beyond(rows, reach) * std::log(5.0);
      CHECK(std::abs(block_copy_best_loss(task, reach) - expected) < 0.03);
    }
  }
}

TEST_CASE("The same seed gives the same blocks, wherever they are cut") {
  const auto rows = [](Index T, Index segments) {
    Random random(3);
    TaskRows source = block_copy_rows({}, 3, T, segments, random);
    return next_rows(source, segments);
  };
  CHECK(same_rows(rows(5, 8), rows(5, 8)));
  CHECK(same_rows(rows(5, 8), rows(40, 1)));
}

TEST_CASE("A block that does not fit and lengths beyond all use are errors") {
  Random random(1);
  constexpr Index huge = std::numeric_limits<Index>::max();
  const auto rows = [&](const BlockCopy& task) { block_copy_rows(task, 2, 4, 3, random); };
  CHECK(holds(message_of<ValueError>([&] { block_copy_rows({8, 4, 3}, 2, 4, 3, random); }), "4 symbols do not fit"));
  CHECK(holds(message_of<ValueError>([&] { block_copy_best_loss({}, -1); }), "a reach of -1"));
  CHECK(holds(message_of<ValueError>([&] { block_copy_best_loss({8, 0, 3}, 1); }), "block 0"));
  CHECK_THROWS_AS(rows({0, 2, 3, 1}), ValueError);
  CHECK_THROWS_AS(rows({8, 2, huge, 1}), ValueError);
  CHECK_THROWS_AS(rows({8, 2, 3, -1}), ValueError);
  CHECK_THROWS_AS(rows({8, 2, 3, huge}), ValueError);
  CHECK_THROWS_AS(block_copy_length({8, 2, huge, huge}), ValueError);
  CHECK_THROWS_AS(rows({huge, 2, 3, 1}), ValueError);
  CHECK_THROWS_AS(block_copy_rows({}, 2, 0, 3, random), ValueError);
}

}  // namespace segue::xl_block_copy_test
