#include "xl/tasks/latest_key.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "tests/support/task_rows.hpp"

namespace segue::xl_latest_key_test {

namespace {

// These tokens with their targets, found by looking back from each.
TaskRow row_of(const std::vector<Index>& tokens, Index keys) {
  TaskRow row;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    std::size_t back = 1;
    while (back <= t && tokens[t - back] >= keys) ++back;
    const bool asked = tokens[t] >= keys && back <= t;
    asked ? row.write(tokens[t], tokens[t - back], static_cast<Index>(back)) : row.write(tokens[t]);
  }
  return row;
}

// Every row of so many tokens of a vocabulary, once.
std::vector<TaskRow> all_rows(Index vocabulary, Index keys, Index length) {
  Index count = 1;
  for (Index t = 0; t < length; ++t) count *= vocabulary;
  std::vector<TaskRow> rows;
  for (Index n = 0; n < count; ++n) {
    std::vector<Index> tokens;
    for (Index t = 0, rest = n; t < length; ++t, rest /= vocabulary) tokens.push_back(rest % vocabulary);
    rows.push_back(row_of(tokens, keys));
  }
  return rows;
}

}  // namespace

TEST_CASE("The target of noise is the latest key, and nothing else has one") {
  Random random(3);
  TaskRows source = latest_key_rows({.keys = 3, .noise = 2, .rarity = 4}, 20, 6, 5, random);
  std::set<Index> tokens;
  double keys = 0, all = 0;
  for (int round = 0; round < 5; ++round) {
    for (const TaskRow& row : next_rows(source, 5)) {
      CHECK(same_rows({row}, {row_of(row.tokens, 3)}));
      tokens.insert(row.tokens.begin(), row.tokens.end());
      keys += static_cast<double>(std::count_if(row.tokens.begin(), row.tokens.end(), [](Index k) { return k < 3; }));
      all += static_cast<double>(row.tokens.size());
    }
  }
  CHECK(tokens == std::set<Index>{0, 1, 2, 3, 4});
  CHECK(keys / all == doctest::Approx(0.25).epsilon(0.1));
}

TEST_CASE("The best loss is that counted over all rows") {
  // two keys and two kinds of noise, a key in two tokens: all rows are equally likely
  const LatestKey task = {.keys = 2, .noise = 2, .rarity = 2};
  for (const Index M : {0, 1, 2, 9}) {
    CAPTURE(M);
    const double counted = counted_entropy(all_rows(4, 2, 6), 0, M);  // in segments of one token the reach is M
    CHECK(latest_key_best_loss(task, M, 1, 6) == doctest::Approx(counted).epsilon(1e-12));
  }
}

TEST_CASE("The best loss is the part of drawn targets that are out of sight, times the logarithm of the keys") {
  Random random(4);
  const LatestKey task = {.keys = 6, .noise = 5, .rarity = 7};
  const Index T = 5, segments = 6;
  TaskRows source = latest_key_rows(task, 4000, T, segments, random);
  const std::vector<TaskRow> rows = next_rows(source, segments);
  for (const Index M : {0, 3, 10}) {
    double targets = 0, beyond = 0;
    for (const TaskRow& row : rows) {
      for (Index t = 0; t < T * segments; ++t) {
        const Index distance = row.distances[static_cast<std::size_t>(t)];
        targets += distance >= 0 ? 1 : 0;
        beyond += distance > M + t % T ? 1 : 0;
      }
    }
    CHECK(latest_key_best_loss(task, M, T, segments) ==
          doctest::Approx(beyond / targets * std::log(6.0)).epsilon(0.02));
  }
}

TEST_CASE("What makes no sense is an error") {
  Random random(1);
  CHECK_THROWS_AS(latest_key_rows({.keys = 0}, 1, 2, 1, random), ValueError);
  CHECK_THROWS_AS(latest_key_rows({.noise = 0}, 1, 2, 1, random), ValueError);
  CHECK_THROWS_AS(latest_key_rows({.rarity = 0}, 1, 2, 1, random), ValueError);
  CHECK_THROWS_AS(latest_key_rows({}, 0, 2, 1, random), ValueError);
  CHECK_THROWS_AS(latest_key_best_loss({}, -1, 2, 1), ValueError);
  CHECK_THROWS_AS(latest_key_best_loss({}, 2, 0, 1), ValueError);
  CHECK_THROWS_AS(latest_key_best_loss({}, 2, 2, 0), ValueError);
  constexpr Index huge = Index{1} << 62;
  CHECK_THROWS_AS(latest_key_best_loss({}, 2, huge, huge), ValueError);
  CHECK_THROWS_AS(latest_key_best_loss({}, std::numeric_limits<Index>::max(), 2, 2), ValueError);
  CHECK(latest_key_best_loss({}, 0, 1, 1) == 0);  // nothing stands before the first token
}

}  // namespace segue::xl_latest_key_test
