#include "examples/support/step_bytes.hpp"

#include <doctest/doctest.h>

#include "nn/loss.hpp"
#include "tensor/storage.hpp"
#include "tests/support/tiny_models.hpp"
#include "xl/kernels/kept_sinusoids.hpp"

namespace segue::examples_step_bytes_test {

namespace {

// tiny_config() and others, each with another of its numbers doubled; the last without memory.
std::vector<Config> configs() {
  std::vector<Config> all(9, tiny_config());
  all[1].vocabulary *= 2;
  all[2].layers *= 2;
  all[3].heads *= 2;
  all[4].head_width *= 2;
  all[5].width *= 2;
  all[6].feed_forward_width *= 2;
  all[7].segment_length *= 2;
  all[8].memory_length = 0;
  return all;
}

// What training and graph hold between forward and backward.
double held_bytes(const Config& config, Index B) {
  kept_sinusoids(config.memory_length + config.segment_length, 0, config.width);
  const std::size_t before = tensor_bytes();
  RandomTraining t(config, B, Random(1));
  t.step();  // from now on there are gradients
  const Output output = t.model(t.batch.inputs, t.state.memory, Mode::train(t.state.random));
  const MeanLoss mean = mean_cross_entropy(output.logits, t.batch.targets);
  return static_cast<double>(tensor_bytes() - before);
}

}  // namespace

TEST_CASE("between forward and backward a training holds what is counted, to the byte") {
  for (const Config& config : configs()) {
    CAPTURE(to_string(config));
    for (const Index B : {1, 3}) CHECK(held_bytes(config, B) == counted_step_bytes(config, B));
  }
}

TEST_CASE("in a layer of width D a token of the segment takes 17 D numbers, one of the memory 6 D") {
  Config config = {.vocabulary = 7, .layers = 3, .heads = 2, .head_width = 4, .width = 8, .feed_forward_width = 32};
  const double B = 5, D = 8, H = 2, V = 7, distances = 2 * D;
  const double before = counted_step_bytes(config, 5);
  config.memory_length += 1;
  CHECK(counted_step_bytes(config, 5) - before == sizeof(Real) * (3 * (B * 6 * D + distances)));
  config.memory_length -= 1, config.segment_length += 1;
  const double sums = B * (2 * H + 4), outside = B * (2 * D + 2 * V + 3);
  CHECK(counted_step_bytes(config, 5) - before == sizeof(Real) * (3 * (B * 17 * D + sums + distances) + outside));
}

TEST_CASE("a step weighs the same run after run, and no less than is counted") {
  Config other = tiny_config();
  other.memory_length = 40;
  for (const Config& config : configs()) {
    CAPTURE(to_string(config));
    const double first = weigh(config, 3).peak_bytes;
    const WeighedTraining in_between = weigh(other, 2);
    CHECK(weigh(config, 3).peak_bytes == first);
    CHECK(first >= counted_step_bytes(config, 3));
  }
}

TEST_CASE("the memory of a random training is full from the start, and stays so") {
  RandomTraining training(tiny_config(), 2, Random(1));
  for (int step = 0; step < 3; ++step) {
    CHECK(training.state.memory.length() == tiny_config().memory_length);
    CHECK(training.state.memory.visible(1) == tiny_config().memory_length);
    training.step();
  }
  CHECK(training.state.step == 3);
}

TEST_CASE("in deep models the peak is where backward begins") {
  Config config = tiny_config();
  config.layers = 24;  // what products need for a moment is less than what the gradients of so many take
  CHECK(weigh(config, 8).peak_bytes == counted_step_bytes(config, 8));
}

}  // namespace segue::examples_step_bytes_test
