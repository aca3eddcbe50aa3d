#include "examples/support/training.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "tests/support/tiny_models.hpp"
#include "xl/tasks/periodic_copy.hpp"

namespace segue::examples_training_test {

TEST_CASE("Every step of a run has a learning rate above 0, the last one and an only one included") {
  for (const Index steps : {1, 2, 19, 40}) {
    CAPTURE(steps);
    const ModelSettings settings = {.segment_length = 4, .width = 8, .steps = steps, .batch = 2};
    Random random(1);
    TransformerXL model(make_config(settings, 4, 4), random);
    const std::vector<Tensor> before = parameter_values(model);
    PeriodicCopy task(2, 4, 2, 4, 8, random);
    std::vector<Real> rates;
    train_quietly(
        model, settings, [&] { return task.next(); },
        [&](const StepReport& step) { rates.push_back(step.learning_rate); });
    REQUIRE(rates.size() == static_cast<std::size_t>(steps));
    for (const Real rate : rates) {
      CHECK(rate > 0);
      CHECK(rate <= static_cast<Real>(settings.learning_rate));
    }
    CHECK_FALSE(same_bits(parameter_values(model), before));
  }
}

TEST_CASE("Seeds and steps from which no lesson could count on are errors that name the bounds") {
  ModelSettings settings;
  Arguments arguments("a_lesson", "");
  add_arguments(arguments, settings);
  for (const char* wrong : {"seed=9223372036854775807", "seed=-1", "steps=9223372036854775807", "steps=0"}) {
    CAPTURE(wrong);
    CHECK(holds(thrown_by<ArgumentError>([&] { arguments.parse({wrong}); }), "expected a whole number from"));
  }
  arguments.parse({"seed=1000000000000000000"});
  CHECK(settings.seed == largest_seed);
}

}  // namespace segue::examples_training_test
