// Same seed, same bits: for any number of threads, run after run.
#include <doctest/doctest.h>

#include "tensor/parallel.hpp"
#include "tests/support/tiny_models.hpp"
#include "xl/training.hpp"

namespace segue::xl_threads_test {

namespace {

// Large enough that products, sums, softmax and the optimiser are each shared out.
Config wide_config(Real attention_dropout) {
  Config config;
  config.vocabulary = 300;
  config.layers = 1;
  config.heads = 4;
  config.head_width = 8;
  config.width = 128;
  config.feed_forward_width = 256;
  config.memory_length = 32;
  config.dropout = Real(0.1);
  config.attention_dropout = attention_dropout;
  return config;
}

// Three steps of training with dropout: the weights, the memory and the losses.
std::vector<Tensor> trained(int threads, Real attention_dropout) {
  const SharingThreads sharing(threads);
  const Config config = wide_config(attention_dropout);
  TransformerXL model = random_model(config);
  Adam optimizer(parameters(model));
  TrainingState state = {0, empty_memory(config, 16, 32), Random(1)};
  Streams streams(random_tokens(1, 16 * 48 + 1, config.vocabulary).ids, 16, 16, Tail::drop);
  TrainingOptions options;
  options.steps = 3;
  options.learning_rate = [](Index) { return Real(0.01); };
  std::vector<Tensor> all;
  options.report = [&](const StepReport& r) {
    all.push_back(Tensor({2}, {static_cast<Real>(r.loss), static_cast<Real>(r.gradient_norm)}));
    return true;
  };
  train(
      model, optimizer, state, [&] { return streams.next(); }, options);
  for (const Tensor& value : parameter_values(model)) all.push_back(value);
  for (const Variable& layer : state.memory.layers) all.push_back(layer.value());
  return all;
}

}  // namespace

TEST_CASE("The same seed trains to the same bits with 1, 2 and 5 threads, run after run") {
  for (const Real attention_dropout : {Real(0), Real(0.1)}) {
    const std::vector<Tensor> alone = trained(1, attention_dropout);
    for (const int threads : {1, 2, 5}) CHECK(same_bits(trained(threads, attention_dropout), alone));
  }
}

}  // namespace segue::xl_threads_test
