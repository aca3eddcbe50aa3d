// Same seed, same bits, machine after machine: whole training runs of the portable build against recorded hashes.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tensor/plain.hpp"
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
  config.dropout = Real(0.05);
  return config;
}
Config other_config() {
  Config config = odd_config();
  config.pre_norm = config.same_length = true;
  config.clamp_length = 6;
  config.tie_weights = false;
  return config;
}
Config with_attention_dropout(Config config) {
  config.attention_dropout = Real(0.05);
  return config;
}

struct Run {
  std::vector<std::uint64_t> hashes;     // after each of hashed_steps: of all weights, the memory and the losses so far
  double first_loss = 0, late_loss = 0;  // of the first step, and the mean of the last twenty
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
    if (report.step > hashed_steps.back() - 20) run.late_loss += report.loss / 20;
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
void check_run(const Config& config, bool as_formula, [[maybe_unused]] const std::vector<std::uint64_t>& recorded) {
  const PlainGuard guard(as_formula);
  const Run run = trained(config);
  CHECK(run.first_loss > 1.5);  // ln 6 = 1.79 is ignorance
  CHECK(run.late_loss < 0.8);
  CHECK(run.clipped > 0);
  CHECK(run.clipped < hashed_steps.back());
#ifdef SEGUE_PORTABLE
  std::string hashes;
  for (const std::uint64_t hash : run.hashes) hashes += fmt::format("0x{:016x}, ", hash);
  CAPTURE(hashes);
  CHECK(run.hashes == recorded);
#else
  CHECK(run.hashes == trained(config).hashes);  // contraction rounds in a way of its own, but always the same
#endif
}

struct Recorded {
  std::string name;
  Config config;
  std::vector<std::uint64_t> in_float, in_double;
};
const std::vector<Recorded> runs = {{"post-norm",
                                     odd_config(),
                                     {0xd6476a5a12cab6cb, 0x71b48a9a4d0bdb35, 0x114533af888c1e73, 0x2a2c145d422d81ea},
                                     {0x40e438778d35bb08, 0x63e7f110593ddab9, 0x78cd45311ede4216, 0xf6c164633c61b360}},
                                    {"post-norm, attention dropout",
                                     with_attention_dropout(odd_config()),
                                     {0x2fddaaa593d622b1, 0x9d3376f00a76b726, 0xfd365ac955c513b4, 0xadc8fa09984106ac},
                                     {0xd5515219a61419d0, 0x7fde2137fefb4196, 0xdde51220fede12a9, 0x0a8cf7e5b647c98c}},
                                    {"pre-norm, window, clamped, untied",
                                     other_config(),
                                     {0xa6f3e37101e6ae05, 0x3e1416904e1aadd3, 0x21bd40eefb9e10b1, 0xcf94ee2f9b424bbf},
                                     {0xb2fa98b500450832, 0xe77532072e67f63c, 0x34c925499f986f42, 0xb0d9af0840090561}},
                                    {"pre-norm, window, clamped, untied, attention dropout",
                                     with_attention_dropout(other_config()),
                                     {0x0cc0b6b1cd4898d1, 0x0c7dbfaf71410129, 0x5f0c0afd5d217431, 0xcd82e15428f840cf},
                                     {0x53e85607c7c60657, 0xee2e7e6f58bbd6a6, 0x8175bceb881c078b, 0xe2bd8355ed354444}}};

}  // namespace

TEST_CASE("In the portable build a training run has its recorded bits, plain and fast, on every machine") {
  for (const Recorded& run : runs) {
    CAPTURE(run.name);
    for (const bool as_formula : {false, true}) {
      CAPTURE(as_formula);
      check_run(run.config, as_formula, sizeof(Real) == sizeof(float) ? run.in_float : run.in_double);
    }
  }
}

}  // namespace segue::xl_portable_test
