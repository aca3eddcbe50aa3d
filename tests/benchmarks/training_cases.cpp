#include <memory>

#include "examples/support/random_training.hpp"
#include "tests/benchmarks/case.hpp"
#include "xl/tools/model_size.hpp"

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
      const auto run = std::make_shared<RandomTraining>(size.config, size.B, Random(1));
      return [run] { run->step(); };
    };
    cases.push_back(step);
  }
  return cases;
}

}  // namespace segue
