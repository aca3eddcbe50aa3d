#include <memory>

#include "tests/benchmarks/case.hpp"
#include "tests/benchmarks/work.hpp"
#include "xl/model.hpp"
#include "xl/training.hpp"

namespace segue {
namespace {

// The sizes are numbers in the order of a table: V N H D F T M.
Config config_of(Index V, Index N, Index H, Index D, Index F, Index T, Index M) {
  Config config;
  config.vocabulary = V;
  config.layers = N;
  config.heads = H;
  config.head_width = D / H;
  config.width = D;
  config.feed_forward_width = F;
  config.segment_length = T;
  config.memory_length = M;
  return config;
}

struct Run {
  Run(const ModelSize& size, Random random)
      : model(size.config, random),
        optimizer(parameters(model)),
        state{0, empty_memory(size.config, size.B, size.config.memory_length), random} {
    const Shape shape = {size.B, size.config.segment_length};
    batch = {Tokens(shape), Tokens(shape), {}};
    for (Index& id : batch.inputs.ids) id = random.below(size.config.vocabulary);
    for (Index& id : batch.targets.ids) id = random.below(size.config.vocabulary);
    options.learning_rate = [](Index) { return Real(0.0003); };
  }
  void step() {
    options.steps = state.step + 1;
    train(
        model, optimizer, state, [this] { return batch; }, options);
  }

  TransformerXL model;
  Adam optimizer;
  TrainingState state;
  TrainingOptions options;
  Batch batch;
};

}  // namespace

const std::vector<ModelSize>& model_sizes() {
  static const std::vector<ModelSize> sizes = {
      // V N H D F T M, B
      {"tiny", config_of(32, 2, 2, 32, 128, 16, 16), 4},
      {"small", config_of(256, 4, 4, 128, 512, 64, 64), 16},
      {"medium", config_of(256, 6, 8, 256, 1024, 128, 128), 8},
  };
  return sizes;
}

std::vector<Case> training_cases() {
  std::vector<Case> cases;
  for (const ModelSize& size : model_sizes()) {
    const Config& c = size.config;
    Case step;
    step.name = "train_step_" + size.name;
    step.tokens = static_cast<double>(size.B * c.segment_length);
    step.products = forward_products(c, size.B, c.segment_length, c.memory_length) + backward_products(c, size.B);
    step.prepare = [&size] {
      const auto run = std::make_shared<Run>(size, Random(1));
      return [run] { run->step(); };
    };
    cases.push_back(step);
  }
  return cases;
}

}  // namespace segue
