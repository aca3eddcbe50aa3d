#include "xl/tasks/task_rows.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "tests/support/random_inputs.hpp"
#include "tests/support/task_rows.hpp"

namespace segue::xl_task_rows_test {

namespace {

// Two tokens a call, numbered through the row; the second of them has a target.
void write_numbers(TaskRow& row) {
  const Index n = static_cast<Index>(row.tokens.size());
  row.write(n);
  row.write(n + 1, 100 + n, n);
}

}  // namespace

TEST_CASE("A row is what was written, cut into segments, and all rows begin anew together") {
  TaskRows source(2, 3, 3, write_numbers);  // 9 tokens: the last call writes beyond the end
  for (int round = 0; round < 2; ++round) {
    for (Index s = 0; s < 3; ++s) {
      const Batch batch = source.next();
      CHECK(batch.inputs.shape == Shape{2, 3});
      CHECK(batch.targets.shape == Shape{2, 3});
      CHECK(source.distances().shape == Shape{2, 3});
      CHECK(batch.resets == (s == 0 ? std::vector<Index>{0, 1} : std::vector<Index>{}));
      for (Index k = 0; k < 6; ++k) {
        const Index t = 3 * s + k % 3;
        CHECK(batch.inputs[k] == t);
        CHECK(batch.targets[k] == (t % 2 == 0 ? ignored_target : 99 + t));
        CHECK(source.distances()[k] == (t % 2 == 0 ? -1 : t - 1));
      }
    }
  }
}

TEST_CASE("What stands in the rows does not depend on where they are cut") {
  const auto rows = [](Index T, Index segments) {
    Random random(4);
    TaskRows source(3, T, segments, [&](TaskRow& row) {
      for (Index n = random.below(5); n >= 0; --n) row.write(random.below(9), random.below(9), n);
    });
    std::vector<TaskRow> all = next_rows(source, segments);
    for (TaskRow& row : next_rows(source, segments)) all.push_back(row);
    return all;
  };
  const std::vector<TaskRow> whole = rows(12, 1);
  for (const Index T : {1, 2, 3, 4, 6}) CHECK(same_rows(rows(T, 12 / T), whole));
  CHECK_FALSE(same_rows({whole[0]}, {whole[1]}));
  CHECK_FALSE(same_rows({whole[0]}, {whole[3]}));  // the same row after beginning anew
}

TEST_CASE("A task that writes nothing, or loses a target, is an error and no endless loop") {
  TaskRows nothing(1, 4, 1, [](TaskRow&) {});
  CHECK(holds(message_of<ValueError>([&] { nothing.next(); }), "a row of 0 tokens was written on to 0 tokens"));
  TaskRows uneven(1, 4, 1, [](TaskRow& row) { row.tokens.push_back(1); });
  CHECK(holds(message_of<ValueError>([&] { uneven.next(); }), "1 tokens, 0 targets and 0 distances"));
  TaskRows takes_back(1, 4, 1, [](TaskRow& row) {
    row.tokens.empty() ? row.tokens = {1, 2} : row.tokens = {1};
    row.targets = row.distances = row.tokens;
  });
  CHECK_THROWS_AS(takes_back.next(), ValueError);
}

TEST_CASE("A batch that could not be written leaves the source as it was") {
  bool broken = false;
  TaskRows source(1, 2, 1, [&](TaskRow& row) {
    if (!broken) row.write(5, 6, 0);
  });
  source.next();
  broken = true;
  CHECK_THROWS_AS(source.next(), ValueError);
  CHECK(source.distances().ids == std::vector<Index>{0, 0});
  broken = false;
  CHECK(source.next().resets == std::vector<Index>{0});
}

TEST_CASE("Lengths below 1 or beyond all use, and a missing function, are errors") {
  constexpr Index huge = std::numeric_limits<Index>::max();
  CHECK(holds(message_of<ValueError>([&] { TaskRows(0, 4, 2, write_numbers); }), "rows 0, segment 4 and segments 2"));
  CHECK_THROWS_AS(TaskRows(1, 0, 2, write_numbers), ValueError);
  CHECK_THROWS_AS(TaskRows(1, 4, 0, write_numbers), ValueError);
  CHECK_THROWS_AS(TaskRows(1, huge, huge, write_numbers), ValueError);
  CHECK_THROWS_AS(TaskRows(1, 4, 2, nullptr), ValueError);
}

}  // namespace segue::xl_task_rows_test
