#include "xl/tasks/pair_stream.hpp"

#include <doctest/doctest.h>

#include <set>

#include "tests/support/task_rows.hpp"

namespace segue::xl_pair_stream_test {

namespace {

// A row of the given keys and values of keys, with its targets found by looking back.
TaskRow row_of(const std::vector<Index>& keys, const std::vector<Index>& value_of) {
  TaskRow row;
  for (const Index key : keys) {
    const auto here = static_cast<Index>(row.tokens.size());
    Index before = here - 2;
    while (before >= 0 && row.tokens[static_cast<std::size_t>(before)] != key) before -= 2;
    const Index value = value_of[static_cast<std::size_t>(key)];
    before < 0 ? row.write(key) : row.write(key, value, here - before);
    row.write(value);
  }
  return row;
}

// Every row of so many pairs, once.
std::vector<TaskRow> all_rows(Index keys, Index values, Index pairs) {
  std::vector<TaskRow> rows;
  Index orders = 1, maps = 1;
  for (Index n = 0; n < pairs; ++n) orders *= keys;
  for (Index n = 0; n < keys; ++n) maps *= values;
  for (Index order = 0; order < orders; ++order) {
    for (Index map = 0; map < maps; ++map) {
      std::vector<Index> chosen, value_of;
      for (Index n = 0, rest = order; n < pairs; ++n, rest /= keys) chosen.push_back(rest % keys);
      for (Index n = 0, rest = map; n < keys; ++n, rest /= values) value_of.push_back(keys + rest % values);
      rows.push_back(row_of(chosen, value_of));
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("Targets are the values of keys that were shown before, at the distance of the last time") {
  Random random(3);
  TaskRows source = pair_stream_rows({.keys = 3, .values = 4}, 20, 6, 5, random);
  std::vector<Index> values_of_key_0;
  std::set<Index> tokens;
  for (int round = 0; round < 3; ++round) {
    for (const TaskRow& row : next_rows(source, 5)) {
      std::vector<Index> keys, value_of(3, 3);
      for (std::size_t t = 0; t < row.tokens.size(); t += 2) {
        keys.push_back(row.tokens[t]);
        value_of[static_cast<std::size_t>(row.tokens[t])] = row.tokens[t + 1];
      }
      CHECK(same_rows({row}, {row_of(keys, value_of)}));
      tokens.insert(row.tokens.begin(), row.tokens.end());
      values_of_key_0.push_back(value_of[0]);
    }
  }
  CHECK(tokens == std::set<Index>{0, 1, 2, 3, 4, 5, 6});
  CHECK(std::set<Index>(values_of_key_0.begin(), values_of_key_0.end()).size() == 4);  // each row has values of its own
}

TEST_CASE("The best loss is that counted over all rows") {
  for (const Index M : {0, 2, 4, 6, 20}) {
    CAPTURE(M);
    // with segments of one pair every key stands at position 0 and has a reach of M
    const double counted = counted_entropy(all_rows(2, 3, 5), 0, M);
    CHECK(pair_stream_best_loss({.keys = 2, .values = 3}, M, 2, 5) == doctest::Approx(counted).epsilon(1e-12));
  }
}

TEST_CASE("The best loss is the part of drawn targets that are out of sight, times the logarithm of the values") {
  Random random(4);
  const PairStream task = {.keys = 6, .values = 5};
  const Index T = 8, segments = 6;
  TaskRows source = pair_stream_rows(task, 4000, T, segments, random);
  const std::vector<TaskRow> rows = next_rows(source, segments);
  for (const Index M : {0, 8, 16}) {
    double targets = 0, beyond = 0;
    for (const TaskRow& row : rows) {
      for (Index t = 0; t < T * segments; ++t) {
        const Index distance = row.distances[static_cast<std::size_t>(t)];
        targets += distance >= 0 ? 1 : 0;
        beyond += distance > M + t % T ? 1 : 0;
      }
    }
    CHECK(pair_stream_best_loss(task, M, T, segments) ==
          doctest::Approx(beyond / targets * std::log(5.0)).epsilon(0.02));
  }
}

TEST_CASE("What makes no sense is an error") {
  Random random(1);
  CHECK_THROWS_AS(pair_stream_rows({.keys = 0}, 1, 2, 1, random), ValueError);
  CHECK_THROWS_AS(pair_stream_rows({.values = 0}, 1, 2, 1, random), ValueError);
  CHECK_THROWS_AS(pair_stream_rows({}, 0, 2, 1, random), ValueError);
  CHECK_THROWS_AS(pair_stream_best_loss({}, 3, 2, 1), ValueError);
  CHECK_THROWS_AS(pair_stream_best_loss({}, 2, 3, 1), ValueError);
  CHECK_THROWS_AS(pair_stream_best_loss({}, 2, 2, 0), ValueError);
  CHECK(pair_stream_best_loss({}, 0, 2, 1) == 0);  // the first pair asks for nothing
}

}  // namespace segue::xl_pair_stream_test
