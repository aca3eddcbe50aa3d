#include "xl/tasks/periodic_copy.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "nn/loss.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::xl_periodic_copy_test {

namespace {

// The entropy of the token after the last `reach` ones of a text of period P, counted over all V^P blocks.
double counted_entropy(Index reach, Index P, Index V) {
  std::map<std::vector<Index>, std::vector<double>> next_after;  // what is seen -> how often each token follows
  Index blocks = 1;
  for (Index p = 0; p < P; ++p) blocks *= V;
  for (Index block = 0; block < blocks; ++block) {
    std::vector<Index> text;
    for (Index rest = block; static_cast<Index>(text.size()) < P; rest /= V) text.push_back(rest % V);
    while (static_cast<Index>(text.size()) <= reach + P)
      text.push_back(text[text.size() - static_cast<std::size_t>(P)]);
    const std::vector<Index> seen(text.end() - 1 - reach, text.end() - 1);
    std::vector<double>& counts = next_after[seen];
    counts.resize(static_cast<std::size_t>(V), 0);
    ++counts[static_cast<std::size_t>(text.back())];
  }
  double entropy = 0;
  for (const auto& [seen, counts] : next_after) {
    double total = 0;
    for (const double count : counts) total += count;
    for (const double count : counts) {
      if (count > 0) entropy -= count / static_cast<double>(blocks) * std::log(count / total);
    }
  }
  return entropy;
}

}  // namespace

TEST_CASE("Each row repeats its block: x[t] = x[t - P], across segments, until all begin anew") {
  Random random(1);
  for (const Index P : {1, 3, 5, 20}) {
    PeriodicCopy task(P, 50, 3, 4, 4, random);
    std::set<std::vector<Index>> blocks;
    for (int round = 0; round < 3; ++round) {
      std::vector<std::vector<Index>> rows(3);
      for (Index s = 0; s < 4; ++s) {
        const Batch batch = task.next();
        CHECK(batch.inputs.shape == Shape{3, 4});
        CHECK(batch.targets.shape == Shape{3, 4});
        CHECK(batch.resets == (s == 0 ? std::vector<Index>{0, 1, 2} : std::vector<Index>{}));
        for (Index b = 0; b < 3; ++b) {
          std::vector<Index>& row = rows[static_cast<std::size_t>(b)];
          for (Index i = 0; i < 4; ++i) {
            const Index t = static_cast<Index>(row.size()), x = batch.inputs[4 * b + i],
                        target = batch.targets[4 * b + i];
            CHECK((x >= 0 && x < 50));
            row.push_back(x);
            if (t >= P) CHECK(x == row[static_cast<std::size_t>(t - P)]);
            // The target is the token P - 1 places back; before that place exists it is ignored.
            CHECK(target == (t + 1 < P ? ignored_target : row[static_cast<std::size_t>(t + 1 - P)]));
          }
        }
      }
      if (P > 1) blocks.insert(rows.begin(), rows.end());
    }
    if (P > 1) CHECK(blocks.size() == 9);  // every row and every round its own block
  }
}

TEST_CASE("The same seed gives the same batches") {
  Random one(3), same(3);
  PeriodicCopy a(5, 9, 2, 4, 3, one), b(5, 9, 2, 4, 3, same);
  for (int n = 0; n < 7; ++n) {
    const Batch x = a.next(), y = b.next();
    CHECK(x.inputs == y.inputs);
    CHECK(x.targets == y.targets);
  }
}

TEST_CASE("The best loss is the entropy counted over all blocks, given the tokens within reach") {
  for (const Index V : {1, 2, 3}) {
    for (const Index P : {1, 2, 4, 6}) {
      for (const Index M : {0, 1, 3, 5}) {
        for (const Index i : {0, 1, 2, 4}) {
          CAPTURE(V);
          CAPTURE(P);
          CAPTURE(M);
          CAPTURE(i);
          CHECK(periodic_copy_best_loss(M, i, P, V) == doctest::Approx(counted_entropy(M + i + 1, P, V)).epsilon(1e-9));
        }
      }
    }
  }
}

TEST_CASE("The best loss knows lengths up to the largest there are") {
  constexpr Index huge = std::numeric_limits<Index>::max();
  CHECK(periodic_copy_best_loss(huge, huge, huge, 4) == 0);
  CHECK(periodic_copy_best_loss(huge, 1, 5, 4) == 0);
  CHECK(periodic_copy_best_loss(0, 0, huge, 4) == doctest::Approx(std::log(4.0)));
}

TEST_CASE("A length below 1 is an error") {
  Random random(1);
  constexpr Index huge = std::numeric_limits<Index>::max();
  CHECK(holds(thrown_by<ValueError>([&] { PeriodicCopy(0, 2, 1, 4, 2, random); }), "period 0"));
  CHECK_THROWS_AS(PeriodicCopy(3, 0, 1, 4, 2, random), ValueError);
  CHECK_THROWS_AS(PeriodicCopy(3, 2, 0, 4, 2, random), ValueError);
  CHECK_THROWS_AS(PeriodicCopy(3, 2, 1, 0, 2, random), ValueError);
  CHECK_THROWS_AS(PeriodicCopy(3, 2, 1, 4, 0, random), ValueError);
  CHECK_THROWS_AS(PeriodicCopy(3, 2, 1, huge, huge, random), ValueError);
}

}  // namespace segue::xl_periodic_copy_test
