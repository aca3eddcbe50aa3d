#include "xl/tasks/loss_by_distance.hpp"

#include <doctest/doctest.h>

#include <map>

#include "nn/schedule.hpp"
#include "tests/support/task_rows.hpp"
#include "tests/support/tiny_models.hpp"
#include "xl/tasks/counting.hpp"
#include "xl/training.hpp"

namespace segue::xl_loss_by_distance_test {

TEST_CASE("The loss at a distance is the mean over all targets with it, each after what its row has read before") {
  const TransformerXL model = random_model(tiny_config());
  Random one(3), same(3);
  TaskRows rows = counting_rows({5, 4}, 3, 4, 3, one), twin = counting_rows({5, 4}, 3, 4, 3, same);
  const std::vector<LossAtDistance> losses = loss_by_distance(model, rows, 6, 12);  // rows begin anew once
  std::map<Index, double> sums;
  std::map<Index, Index> counts;
  for (int round = 0; round < 2; ++round) {
    for (const TaskRow& row : next_rows(twin, 3)) {
      Memory memory = empty_memory(model.config, 1, 12);
      const Tensor logits = model(Tokens({1, 12}, row.tokens), memory, Mode::evaluate()).logits.value();
      for (Index t = 0; t < 12; ++t) {
        const Index distance = row.distances[static_cast<std::size_t>(t)],
                    target = row.targets[static_cast<std::size_t>(t)];
        if (distance < 0) continue;
        double sum = 0;
        for (Index v = 0; v < 7; ++v) sum += std::exp(logits.at({0, t, v}));
        sums[distance] += std::log(sum) - logits.at({0, t, target});
        ++counts[distance];
      }
    }
  }
  REQUIRE(losses.size() == 4);
  for (Index k = 0; k < 4; ++k) {
    const LossAtDistance& at = losses[static_cast<std::size_t>(k)];
    CHECK(at.distance == k + 1);
    CHECK(at.targets == counts[k + 1]);
    CHECK(at.loss == doctest::Approx(sums[k + 1] / static_cast<double>(counts[k + 1])).epsilon(1e-12));
  }
}

// docs/18_a_task_of_your_own.md quotes four seeds of this.
TEST_CASE("A model that learns to count two ticks is sure of wrong counts from twice as far on") {
  const Config config = {.vocabulary = 4, .segment_length = 4, .memory_length = 4};
  Random random(1), fresh(2);
  TransformerXL model(config, random);
  TaskRows rows = counting_rows({2, 2}, 16, 4, 8, random), far = counting_rows({2, 11}, 32, 4, 12, fresh);
  Adam adam(parameters(model));
  TrainingState state = {0, empty_memory(config, 16, 4), random};
  TrainingOptions options;
  options.steps = 800;
  options.learning_rate = [](Index step) { return warm_up_cosine(step, 40, 800, Real(0.006)); };
  train(
      model, adam, state, [&] { return rows.next(); }, options);
  const std::vector<LossAtDistance> losses = loss_by_distance(model, far, 12, 12);
  REQUIRE(losses.size() == 11);
  for (const LossAtDistance& at : losses) {
    CAPTURE(at.distance);
    CAPTURE(at.loss);
    if (at.distance == 1) CHECK(at.loss < 0.05);
    if (at.distance == 2) CHECK(at.loss < 0.5);
    if (at.distance >= 4) CHECK(at.loss > 1);  // ln 2 = 0.693 is what a guess costs
  }
}

TEST_CASE("No batches are an error, and so is a task that the model has no tokens for") {
  const TransformerXL model = random_model(tiny_config());
  Random random(1);
  TaskRows rows = counting_rows({6, 3}, 2, 4, 2, random);
  CHECK(holds(message_of<ValueError>([&] { loss_by_distance(model, rows, 0, 4); }), "0 batches"));
  CHECK(holds(message_of<RangeError>([&] { loss_by_distance(model, rows, 2, 4); }), "7"));
}

}  // namespace segue::xl_loss_by_distance_test
