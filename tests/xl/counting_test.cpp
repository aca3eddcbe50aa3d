#include "xl/tasks/counting.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "tests/support/random_inputs.hpp"
#include "tests/support/task_rows.hpp"

namespace segue::xl_counting_test {

TEST_CASE(
    "The count goes on through the whole row: each target, and each count shown, is all ticks since its beginning") {
  Random random(2);
  for (const Counting task : {Counting{2, 15}, Counting{5, 7}, Counting{3, 1}, Counting{1, 4}}) {
    const Index m = task.modulus, length = 20 * (task.stretch + 1);
    TaskRows source = counting_rows(task, 3, length / 4, 4, random);
    for (const TaskRow& row : next_rows(source, 4)) {
      Index ticks = 0;
      for (Index t = 0; t < length; ++t) {
        const auto at = static_cast<std::size_t>(t);
        const Index x = row.tokens[at], since = t % (task.stretch + 1);
        ticks += x == m + 1 ? 1 : 0;
        const Index count = (row.tokens[0] + ticks) % m;
        CHECK((since == 0 ? x == count : (x == m || x == m + 1)));
        CHECK(row.targets[at] == (since == 0 ? ignored_target : count));
        CHECK(row.distances[at] == (since == 0 ? -1 : since));
      }
      CHECK(ticks > length / 6);
      CHECK(ticks < length * 4 / 5);
    }
  }
}

TEST_CASE("Every count is shown as often as any other") {
  Random random(6);
  TaskRows source = counting_rows({5, 3}, 2000, 4, 2, random);
  std::vector<double> first(5, 0), second(5, 0);
  for (const TaskRow& row : next_rows(source, 2)) {
    ++first[static_cast<std::size_t>(row.tokens[0])];
    ++second[static_cast<std::size_t>(row.tokens[4])];
  }
  for (std::size_t count = 0; count < 5; ++count) {
    CHECK(std::abs(first[count] - 400) < 100);  // five deviations of 18 and some more
    CHECK(std::abs(second[count] - 400) < 100);
  }
}

TEST_CASE("The best loss is the entropy counted over all texts, given the tokens within reach") {
  for (const Counting task : {Counting{2, 3}, Counting{3, 3}, Counting{5, 2}, Counting{1, 2}, Counting{2, 1}}) {
    std::vector<TaskRow> texts;
    const Index ways = Index(1) << (2 * task.stretch);
    for (Index n = 0; n < task.modulus * ways; ++n) {
      TaskRow text;
      Index count = n / ways, bits = n % ways;
      for (int stretch = 0; stretch < 2; ++stretch) {
        text.write(count);
        for (Index k = 0; k < task.stretch; ++k, bits /= 2) {
          count = (count + bits % 2) % task.modulus;
          text.write(task.modulus + bits % 2, count, k + 1);
        }
      }
      texts.push_back(text);
    }
    for (Index reach = 0; reach <= task.stretch + 1; ++reach) {
      CAPTURE(task.modulus);
      CAPTURE(reach);
      const double counted = counted_entropy(texts, task.stretch + 1, reach);
      CHECK(counting_best_loss(task, reach) == doctest::Approx(counted).epsilon(1e-12));
    }
  }
}

TEST_CASE("The share of the targets beyond reach is what the best loss says") {
  Random random(4);
  const Counting task = {3, 9};
  TaskRows source = counting_rows(task, 2, 10, 7, random);
  const std::vector<TaskRow> rows = next_rows(source, 7);
  for (Index reach = 0; reach <= 10; ++reach) {
    CHECK(counting_best_loss(task, reach) == doctest::Approx(share_beyond(rows, reach) * std::log(3.0)).epsilon(1e-12));
  }
}

TEST_CASE("The same seed gives the same counts, wherever they are cut") {
  const auto rows = [](Index T, Index segments) {
    Random random(3);
    TaskRows source = counting_rows({}, 3, T, segments, random);
    return next_rows(source, segments);
  };
  CHECK(same_rows(rows(5, 8), rows(5, 8)));
  CHECK(same_rows(rows(5, 8), rows(40, 1)));
}

TEST_CASE("Numbers below 1 or beyond all use are errors") {
  Random random(1);
  constexpr Index huge = std::numeric_limits<Index>::max();
  CHECK(holds(message_of<ValueError>([&] { counting_rows({0, 3}, 2, 4, 3, random); }), "modulus 0"));
  CHECK(holds(message_of<ValueError>([&] { counting_best_loss({2, 0}, 1); }), "stretch 0"));
  CHECK(holds(message_of<ValueError>([&] { counting_best_loss({}, -1); }), "a reach of -1"));
  CHECK_THROWS_AS(counting_rows({huge, 3}, 2, 4, 3, random), ValueError);
  CHECK_THROWS_AS(counting_rows({2, huge}, 2, 4, 3, random), ValueError);
  CHECK_THROWS_AS(counting_rows({}, 2, 4, 0, random), ValueError);
}

}  // namespace segue::xl_counting_test
