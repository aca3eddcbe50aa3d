#include "xl/tools/recomputation.hpp"

#include <doctest/doctest.h>

#include "autograd/backward.hpp"
#include "tests/support/tiny_models.hpp"
#include "xl/sinusoids.hpp"
#include "xl/training.hpp"

namespace segue::xl_recomputation_test {

namespace {

Config config_with_dropout(Config config) {
  config.layers = 3;
  config.dropout = Real(0.2);
  config.attention_dropout = Real(0.3);
  return config;
}

struct Run {
  std::vector<Tensor> logits, gradients, memory;
  std::string random;
};

// Three segments with a backward pass after each; gradients add up.
Run three_segments(TransformerXL& model) {
  Run run;
  Random random(6);
  Memory memory = empty_memory(model.config, 2, 5);
  clear_gradients(parameters(model));
  for (std::uint64_t segment = 0; segment < 3; ++segment) {
    memory = reset_rows(memory, segment == 2 ? std::vector<Index>{1} : std::vector<Index>{});
    const Output output = model(random_tokens(2, 4, 7, 40 + segment), memory, Mode::train(random));
    backward(mean_cross_entropy(output.logits, random_tokens(2, 4, 7, 50 + segment)).loss,
             model.config.stop_memory_gradient ? Graph::release : Graph::keep);
    run.logits.push_back(output.logits.value());
    memory = output.memory;
  }
  for (const Parameter& p : parameters(model)) run.gradients.push_back(p.variable.gradient().clone());
  for (const Variable& layer : memory.layers) run.memory.push_back(layer.value());
  run.random = random.state();
  return run;
}

// The most bytes of tensors that one step adds, forward and backward, to what was there before.
std::size_t peak_of_step(const TransformerXL& model) {
  const Memory memory = random_memory(model.config, 4, 16, 16);
  const std::size_t before = tensor_bytes();
  reset_peak_tensor_bytes();
  Random random(6);
  const Output output = model(random_tokens(4, 16, 7), memory, Mode::train(random));
  backward(mean_cross_entropy(output.logits, random_tokens(4, 16, 7)).loss);
  return peak_tensor_bytes() - before;
}

// What the graph of one layer keeps, counted by itself, for the segment of peak_of_step.
double bytes_of_a_layer(const Config& config) {
  Random random(6);
  const Layer layer(config, random);
  const Memory memory = random_memory(config, 4, 16, 16);
  const Variable zeros = parameter(Tensor::zeros({config.heads, config.head_width}));
  const Variable R(distance_sinusoids(32, 0, config.width));
  const Pass pass = pass_of(config, R, zeros, zeros, 16, memory, Mode::train(random));
  const Variable h = parameter(random_tensor({4, 16, config.width}));
  const std::size_t before = tensor_bytes();
  const Variable z = layer(h, memory.layers[0], pass);
  return static_cast<double>(tensor_bytes() - before);
}

// The same weights, each layer computed again in backward.
TransformerXL recomputing_copy(const TransformerXL& model) {
  TransformerXL copy = model.clone();
  copy.run_layer = recompute_layer;
  return copy;
}

Config deep_config(Index layers) {
  Config config = config_with_dropout(tiny_config());
  config.layers = layers;
  config.heads = 2;
  config.head_width = 8;
  config.width = 16;
  config.feed_forward_width = 64;
  return config;
}

}  // namespace

TEST_CASE("A recomputing model gives logits, memory and gradients with the bits of the plain one, dropout on") {
  for (const Config& variant : all_variants()) {
    CAPTURE(to_string(variant));
    TransformerXL plain = random_model(config_with_dropout(variant));
    TransformerXL recomputing = recomputing_copy(plain);
    const Run a = three_segments(plain), b = three_segments(recomputing);
    CHECK(same_bits(a.logits, b.logits));
    CHECK(same_bits(a.memory, b.memory));
    CHECK(same_bits(a.gradients, b.gradients));
    CHECK(a.random == b.random);
  }
}

TEST_CASE("Without the stop-gradient the gradients through all segments agree but for rounding") {
  Config config = config_with_dropout(tiny_config());
  config.stop_memory_gradient = false;
  TransformerXL plain = random_model(config);
  TransformerXL recomputing = recomputing_copy(plain);
  const Run a = three_segments(plain), b = three_segments(recomputing);
  CHECK(same_bits(a.logits, b.logits));
  for (std::size_t k = 0; k < a.gradients.size(); ++k) check_close(b.gradients[k], a.gradients[k]);
}

TEST_CASE("A training run of the recomputing model ends in the same weights, bit for bit") {
  std::vector<std::vector<Tensor>> weights;
  const auto train_copy = [&](auto model) {
    Adam optimizer(parameters(model));
    TrainingState state = {0, empty_memory(model.config, 2, 5), Random(1)};
    TrainingOptions options;
    options.steps = 12;
    options.learning_rate = [](Index) { return Real(0.01); };
    const auto next = [n = std::uint64_t{100}]() mutable {
      n += 2;
      return Batch{random_tokens(2, 3, 7, n), random_tokens(2, 3, 7, n + 1), {}};
    };
    train(model, optimizer, state, next, options);
    weights.push_back(parameter_values(model));
  };
  const Config config = config_with_dropout(tiny_config());
  train_copy(random_model(config));
  train_copy(recomputing_copy(random_model(config)));
  CHECK(same_bits(weights[0], weights[1]));
}

TEST_CASE("Recomputation lowers the peak of tensor bytes, the more the deeper the model") {
  std::vector<double> share;
  for (const Index layers : {1, 2, 4, 12}) {
    const TransformerXL plain = random_model(deep_config(layers));
    const TransformerXL recomputing = recomputing_copy(plain);
    peak_of_step(recomputing);  // gradients are there from now on
    const double with = static_cast<double>(peak_of_step(recomputing));
    share.push_back(with / static_cast<double>(peak_of_step(plain)));
  }
  CAPTURE(share[0]);
  CAPTURE(share[1]);
  CAPTURE(share[2]);
  CAPTURE(share[3]);
  CHECK(share[1] < share[0]);
  CHECK(share[2] < share[1]);
  CHECK(share[3] < share[2]);
  CHECK(share[2] < 0.5);
  CHECK(share[3] < 0.25);
}

TEST_CASE("A layer more adds its whole graph to the peak, or its input when it is computed again") {
  const auto per_layer = [](auto make) {
    std::vector<double> peaks;
    for (const Index layers : {2, 4, 8}) {
      const auto model = make(random_model(deep_config(layers)));
      peak_of_step(model);  // gradients are there from now on
      peaks.push_back(static_cast<double>(peak_of_step(model)));
    }
    CHECK((peaks[2] - peaks[1]) / 4 == doctest::Approx((peaks[1] - peaks[0]) / 2).epsilon(0.02));
    return (peaks[2] - peaks[0]) / 6;
  };
  const double position = 4 * 16 * sizeof(Real);                  // B D
  const double input = 16 * position, handed_on = 16 * position;  // T and M positions
  CHECK(per_layer([](const TransformerXL& m) { return recomputing_copy(m); }) ==
        doctest::Approx(input + handed_on).epsilon(0.02));
  const double plain = per_layer([](const TransformerXL& m) { return m.clone(); });
  CHECK(plain == doctest::Approx(bytes_of_a_layer(deep_config(1)) + handed_on).epsilon(0.02));
  CHECK(plain > 10 * (input + handed_on));
}

TEST_CASE("A recomputing model evaluates and runs without a graph as the plain one does") {
  const TransformerXL plain = random_model(tiny_config());
  const TransformerXL recomputing = recomputing_copy(plain);
  const Tokens tokens = random_tokens(2, 12, 7);
  const std::int64_t before = live_node_count();
  CHECK(same_bits(logits_in_pieces(plain, tokens, {4, 4, 4}, 5), logits_in_pieces(recomputing, tokens, {4, 4, 4}, 5)));
  CHECK(live_node_count() == before);
}

TEST_CASE("Parameters changed before backward are an error") {
  const TransformerXL plain = random_model(tiny_config());
  TransformerXL recomputing = recomputing_copy(plain);
  Random random(1);
  const Output output = recomputing(random_tokens(1, 4, 7), empty_memory(plain.config, 1, 5), Mode::train(random));
  recomputing.layers[1].attention.w_q.set_value(Tensor::zeros({4, 6}));
  CHECK(holds(thrown_by<GraphError>([&] { backward(sum(output.logits)); }), "'w_q' was given another value"));
}

}  // namespace segue::xl_recomputation_test
