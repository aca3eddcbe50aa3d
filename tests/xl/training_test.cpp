#include "xl/training.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "autograd/backward.hpp"
#include "tests/support/tiny_models.hpp"
#include "xl/tasks/periodic_copy.hpp"

namespace segue::xl_training_test {

namespace {

// A model in training on random text; what it reports is kept.
struct Trainer {
  explicit Trainer(const Config& config = tiny_config())
      : model(random_model(config)), optimizer(parameters(model)), state{0, empty_memory(config, 2, 5), Random(1)} {
    options.learning_rate = [](Index) { return Real(0.01); };
    options.report = [this](const StepReport& report) {
      reports.push_back(report);
      nodes.push_back(live_node_count());
      return true;
    };
  }
  void train_to(Index steps) {
    options.steps = steps;
    train(
        model, optimizer, state, [this] { return next(); }, options);
  }

  std::function<Batch()> next = [n = std::uint64_t{100}]() mutable {
    n += 2;
    return Batch{random_tokens(2, 3, 7, n), random_tokens(2, 3, 7, n + 1), {}};
  };
  TransformerXL model;
  Adam optimizer;
  TrainingState state;
  TrainingOptions options;
  std::vector<StepReport> reports;
  std::vector<std::int64_t> nodes;
};

}  // namespace

TEST_CASE("Training on a periodic copy brings the loss from ignorance near to its best") {
  const Config config = learner_config();
  Random random(1);
  TransformerXL model(config, random);
  Adam optimizer(parameters(model));
  TrainingState state = {0, empty_memory(config, 8, 5), Random(1)};
  PeriodicCopy task(6, 4, 8, 4, 6, random);  // longer than a segment
  std::vector<double> losses;
  TrainingOptions options;
  options.steps = 300;
  options.clip = 1;
  options.learning_rate = [](Index) { return Real(0.01); };
  options.report = [&](const StepReport& report) { return losses.push_back(report.loss), true; };
  train(
      model, optimizer, state, [&] { return task.next(); }, options);
  CHECK(losses.front() == 0);  // nothing can be known in the first segment
  CHECK(losses[1] > 0.8);
  CHECK(losses.back() < 0.2);
}

TEST_CASE("A step is the gradient of the mean loss, clipped, and one update with its learning rate") {
  Trainer trainer, twin;
  trainer.options.clip = twin.options.clip = Real(0.1);
  trainer.train_to(1);
  const Batch batch = twin.next();
  const Output output = twin.model(batch.inputs, twin.state.memory, Mode::evaluate());
  const MeanLoss mean = mean_cross_entropy(output.logits, batch.targets);
  backward(mean.loss);
  const double norm = clip_gradients(twin.optimizer.parameters, Real(0.1)).norm;
  twin.optimizer.step(Real(0.01));
  CHECK(norm > 0.1);
  CHECK(trainer.reports[0].gradient_norm == norm);
  CHECK(trainer.reports[0].loss == static_cast<double>(mean.loss.item()));
  CHECK(trainer.reports[0].targets == 6);
  CHECK_FALSE(trainer.reports[0].skipped);
  CHECK(same_bits(parameter_values(trainer.model), parameter_values(twin.model)));
  CHECK(same_bits(trainer.state.memory.layers[1].value(), output.memory.layers[1].value()));
}

TEST_CASE("Steps count from 1, and training goes on to the step asked for or until the report says no") {
  Trainer trainer;
  std::vector<Index> asked;
  trainer.options.learning_rate = [&](Index step) { return asked.push_back(step), static_cast<Real>(step) / 64; };
  trainer.train_to(3);
  trainer.train_to(3);  // done already
  trainer.train_to(5);
  CHECK(asked == std::vector<Index>{1, 2, 3, 4, 5});
  for (std::size_t k = 0; k < 5; ++k) {
    CHECK(trainer.reports[k].step == asked[k]);
    CHECK(trainer.reports[k].learning_rate == static_cast<Real>(asked[k]) / 64);
  }
  trainer.options.report = [](const StepReport& report) { return report.step < 7; };
  trainer.train_to(100);
  CHECK(trainer.state.step == 7);
  CHECK(trainer.optimizer.steps == 7);
  trainer.options.report = nullptr;
  trainer.train_to(8);
  CHECK(trainer.state.step == 8);
}

TEST_CASE("Rows that begin anew are reset before the step, the others go on") {
  Trainer trainer;
  trainer.train_to(3);
  CHECK(trainer.state.memory.tokens_read == std::vector<Index>{9, 9});
  trainer.next = [] { return Batch{random_tokens(2, 3, 7, 1), random_tokens(2, 3, 7, 2), {1}}; };
  trainer.train_to(4);
  CHECK(trainer.state.memory.tokens_read == std::vector<Index>{12, 3});
}

TEST_CASE(
    "A step whose gradient is not finite is reported as skipped and changes nothing but the memory, which is emptied") {
  Trainer trainer;
  trainer.train_to(2);
  Tensor bias = trainer.model.output_bias.value().clone();
  const Tensor sound = bias.clone();
  bias.set_in_place({2}, std::numeric_limits<Real>::infinity());
  trainer.model.output_bias.set_value(bias);
  const std::vector<Tensor> before = parameter_values(trainer.model);
  const Tensor first = trainer.optimizer.first_moment[0].clone(), second = trainer.optimizer.second_moment[0].clone();
  trainer.train_to(3);
  CHECK(trainer.reports[2].skipped);
  CHECK_FALSE(std::isfinite(trainer.reports[2].gradient_norm));
  CHECK(same_bits(parameter_values(trainer.model), before));
  CHECK(same_bits(trainer.optimizer.first_moment[0], first));
  CHECK(same_bits(trainer.optimizer.second_moment[0], second));
  CHECK(trainer.optimizer.steps == 2);
  CHECK(trainer.state.step == 3);
  CHECK(trainer.state.memory.length() == 0);
  CHECK(trainer.state.memory.batch() == 2);
  trainer.model.output_bias.set_value(sound);  // the next sound step goes on
  trainer.train_to(4);
  CHECK_FALSE(trainer.reports[3].skipped);
  CHECK(std::isfinite(trainer.reports[3].gradient_norm));
  CHECK(trainer.optimizer.steps == 3);
}

TEST_CASE("A batch without targets has loss 0 and no gradient") {
  Trainer trainer;
  trainer.next = [] {
    return Batch{random_tokens(2, 3, 7, 1), Tokens({2, 3}, std::vector<Index>(6, ignored_target)), {}};
  };
  const std::vector<Tensor> before = parameter_values(trainer.model);
  trainer.train_to(1);
  CHECK(trainer.reports[0].loss == 0);
  CHECK(trainer.reports[0].targets == 0);
  CHECK(trainer.reports[0].gradient_norm == 0);
  CHECK_FALSE(trainer.reports[0].skipped);
  CHECK(same_bits(parameter_values(trainer.model), before));
}

TEST_CASE(
    "A segment whose targets are all ignored is read, and leaves weights, moments and the schedule as they were") {
  Trainer trainer;
  std::vector<Index> asked;
  trainer.options.learning_rate = [&](Index step) { return asked.push_back(step), Real(0.01); };
  trainer.train_to(2);
  const Batch third = trainer.next();
  const std::vector<Tensor> before = parameter_values(trainer.model);
  const Tensor first = trainer.optimizer.first_moment[0].clone(), second = trainer.optimizer.second_moment[0].clone();
  const auto with_targets = trainer.next;
  trainer.next = [&] { return Batch{third.inputs, Tokens({2, 3}, std::vector<Index>(6, ignored_target)), {}}; };
  trainer.train_to(5);
  CHECK(same_bits(parameter_values(trainer.model), before));
  CHECK(same_bits(trainer.optimizer.first_moment[0], first));
  CHECK(same_bits(trainer.optimizer.second_moment[0], second));
  CHECK(trainer.optimizer.steps == 2);
  CHECK(trainer.state.step == 5);
  CHECK(trainer.state.without_targets == 3);
  CHECK(trainer.state.memory.tokens_read == std::vector<Index>{15, 15});
  CHECK(trainer.reports[4].step == 5);
  CHECK(trainer.reports[4].targets == 0);
  trainer.next = with_targets;
  trainer.train_to(6);
  CHECK(trainer.optimizer.steps == 3);
  CHECK(asked.back() == 3);
  CHECK_FALSE(same_bits(parameter_values(trainer.model), before));
}

TEST_CASE("Training on a text without any target comes to its end and has changed nothing") {
  Trainer trainer;
  const std::vector<Tensor> before = parameter_values(trainer.model);
  trainer.next = [] {
    return Batch{random_tokens(2, 3, 7, 1), Tokens({2, 3}, std::vector<Index>(6, ignored_target)), {}};
  };
  trainer.train_to(20);
  CHECK(trainer.reports.size() == 20);
  CHECK(trainer.optimizer.steps == 0);
  CHECK(same_bits(parameter_values(trainer.model), before));
}

TEST_CASE("A learning rate that is no finite number from 0 on is an error, and the run is as it was") {
  Trainer trainer;
  trainer.train_to(2);
  const std::vector<Tensor> before = parameter_values(trainer.model);
  trainer.options.learning_rate = [](Index) { return std::numeric_limits<Real>::quiet_NaN(); };
  CHECK(holds(thrown_by<ValueError>([&] { trainer.train_to(3); }), "learning rate"));
  CHECK(trainer.state.step == 2);
  CHECK(trainer.state.memory.tokens_read == std::vector<Index>{6, 6});
  CHECK(same_bits(parameter_values(trainer.model), before));
}

TEST_CASE("Training holds as many nodes after step 300 as after step 3") {
  Trainer trainer;
  trainer.train_to(300);
  CHECK(trainer.nodes[299] == trainer.nodes[2]);
}

TEST_CASE("Without the stop-gradient training runs through all segments so far, and the graph grows") {
  Config config = tiny_config();
  config.stop_memory_gradient = false;
  Trainer stopped, through(config);
  stopped.train_to(6);
  through.train_to(6);
  CHECK(through.nodes[5] > through.nodes[2] + 3 * 25);
  CHECK(stopped.reports[0].gradient_norm == through.reports[0].gradient_norm);  // no memory yet
  CHECK(stopped.reports[1].loss == through.reports[1].loss);
  CHECK(stopped.reports[1].gradient_norm != through.reports[1].gradient_norm);
}

TEST_CASE("A limit or a learning rate that is missing, and batches that do not fit the memory, are errors") {
  Trainer trainer;
  const std::vector<Tensor> before = parameter_values(trainer.model);
  trainer.options.clip = 0;
  CHECK_THROWS_AS(trainer.train_to(1), ValueError);
  trainer.options.clip = 1;
  trainer.next = [] { return Batch{random_tokens(10, 3, 7), random_tokens(10, 3, 7), {}}; };
  CHECK(holds(thrown_by<ShapeError>([&] { trainer.train_to(1); }), "[10, 3]"));
  trainer.next = [] { return Batch{random_tokens(2, 3, 7), random_tokens(2, 4, 7), {}}; };
  CHECK_THROWS_AS(trainer.train_to(1), ShapeError);
  trainer.next = [] { return Batch{random_tokens(2, 3, 7), random_tokens(2, 3, 7), {2}}; };
  CHECK_THROWS_AS(trainer.train_to(1), RangeError);
  trainer.options.learning_rate = nullptr;
  CHECK(holds(thrown_by<ValueError>([&] { trainer.train_to(1); }), "learning rate"));
  CHECK(same_bits(parameter_values(trainer.model), before));
  CHECK(trainer.state.step == 0);
}

}  // namespace segue::xl_training_test
