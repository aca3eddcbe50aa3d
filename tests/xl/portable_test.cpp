// Same seed, same bits, machine after machine: whole training runs of the portable build against recorded hashes.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/support/hash.hpp"
#include "tests/support/tiny_models.hpp"
#include "xl/tasks/periodic_copy.hpp"
#include "xl/training.hpp"

namespace segue::xl_portable_test {

namespace {

constexpr Index B = 5, T = 7, M = 9, period = 5, segments = 4;
const std::vector<Index> hashed_steps = {1, 10, 50, 200};

// Sizes that fill no vector evenly, on any machine, and all that chance and cuts do in training.
Config odd_config() {
  Config config;
  config.vocabulary = 6;
  config.heads = 3;
  config.head_width = 7;
  config.width = 22;
  config.feed_forward_width = 37;
  config.segment_length = T;
  config.memory_length = M;
  config.dropout = config.attention_dropout = Real(0.05);
  return config;
}
Config other_config() {
  Config config = odd_config();
  config.pre_norm = config.same_length = true;
  config.clamp_length = 6;
  config.tie_weights = false;
  return config;
}

struct Run {
  std::vector<std::uint64_t> hashes;  // after each of hashed_steps: of all weights, the memory and the losses so far
  double first_loss = 0, last_loss = 0;
  Index clipped = 0;
};

Run trained(const Config& config) {
  Random random(1);
  TransformerXL model(config, random);
  Adam optimizer(parameters(model), {.weight_decay = Real(0.001)});
  TrainingState state = {0, empty_memory(config, B, M), Random(2)};
  PeriodicCopy task(period, config.vocabulary, B, T, segments, random);
  const auto next_batch = [&] {
    Batch batch = task.next();
    if (batch.resets.empty() && state.step % 5 == 0) batch.resets = {0};  // one row, not all
    return batch;
  };
  Run run;
  Hash losses;
  TrainingOptions options;
  options.clip = Real(0.5);
  options.learning_rate = [](Index step) { return Real(0.01) / (1 + static_cast<Real>(step) / 100); };
  options.report = [&](const StepReport& report) {
    losses.add(report.loss);
    losses.add(report.gradient_norm);
    if (report.step == 1) run.first_loss = report.loss;
    run.last_loss = report.loss;
    run.clipped += report.gradient_norm > 0.5 ? 1 : 0;
    return true;
  };
  for (const Index step : hashed_steps) {
    options.steps = step;
    train(model, optimizer, state, next_batch, options);
    Hash hash = losses;
    std::vector<Tensor> all = parameter_values(model);
    for (const Variable& layer : state.memory.layers) all.push_back(layer.value());
    for (const Tensor& tensor : all) {
      for (const Real x : tensor.to_vector()) hash.add(x);
    }
    run.hashes.push_back(hash.value);
  }
  return run;
}

// That it learns, and more: a wrong hash shows them all, so that the first step that went another way is seen.
void check_run(const Config& config, const std::vector<std::uint64_t>& recorded) {
  const Run run = trained(config);
  CHECK(run.first_loss > 1.5);  // ln 6 = 1.79 is ignorance
  CHECK(run.last_loss < 0.8);
  CHECK(run.clipped > 0);
  CHECK(run.clipped < hashed_steps.back());
#ifdef SEGUE_PORTABLE
  std::string hashes;
  for (const std::uint64_t hash : run.hashes) hashes += fmt::format("0x{:016x}, ", hash);
  CAPTURE(hashes);
  CHECK(run.hashes == recorded);
#else
  CHECK(run.hashes.size() == recorded.size());
  CHECK(run.hashes == trained(config).hashes);  // at least here, run after run
#endif
}

}  // namespace

TEST_CASE("In the portable build a training run has its recorded bits, on every machine") {
  if (sizeof(Real) == sizeof(float)) {
    check_run(odd_config(), {0xa1f0a10fbf60a279, 0x3cafcd4bb109fcd8, 0xc0b47fa193304b92, 0xab0f506886b0da9d});
    check_run(other_config(), {0x863db6d2f563ae8c, 0xf1ba2a6706e11605, 0xfd2e191d901a41ba, 0xc2e99757ba0a44bf});
  } else {
    check_run(odd_config(), {0x118768764478400f, 0x7ea88669f60d9769, 0x4215be30b5ab5886, 0x007e3ed349c808a5});
    check_run(other_config(), {0xe3347f2c711782ec, 0x902032a60fb95f80, 0x6a32ea114efff249, 0xebefaeb9eb625f35});
  }
}

}  // namespace segue::xl_portable_test
