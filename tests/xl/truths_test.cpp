// What must hold of any Transformer-XL with memory, whatever its weights.
#include <doctest/doctest.h>

#include <limits>

#include "autograd/backward.hpp"
#include "tests/support/tiny_models.hpp"

namespace segue::xl_truths_test {

namespace {

constexpr Index B = 3, L = 11;

std::vector<Index> random_cut(Index length, Random& random) {
  std::vector<Index> lengths;
  for (Index left = length; left > 0; left -= lengths.back())
    lengths.push_back(1 + random.below(std::min<Index>(left, 5)));
  return lengths;
}

// As many positions as the memory must hold for a cut to change nothing: all, or those inside the window.
Index covering(const Config& config) { return config.same_length ? config.memory_length : L; }

Variable segment_loss(const TransformerXL& model, const Tokens& tokens, const Memory& memory) {
  const Index T = tokens.shape[1] - 1;
  const Output output = model(columns(tokens, 0, T), memory, Mode::evaluate());
  return mean_cross_entropy(output.logits, columns(tokens, 1, T)).loss;
}

// The loss of the last of several segments of three tokens, the memory handed on from one to the next.
Variable last_loss(const TransformerXL& model, const Tokens& tokens, Index segments, Index limit) {
  Memory memory = empty_memory(model.config, tokens.shape[0], limit);
  for (Index s = 0; s + 1 < segments; ++s) memory = model(columns(tokens, 3 * s, 3), memory, Mode::evaluate()).memory;
  return segment_loss(model, columns(tokens, 3 * segments - 3, 4), memory);
}

std::vector<Tensor> gradients_of(TransformerXL& model, const Variable& loss) {
  clear_gradients(parameters(model));
  backward(loss);
  std::vector<Tensor> gradients;
  for (const Parameter& p : parameters(model)) gradients.push_back(p.variable.gradient());
  return gradients;
}

}  // namespace

TEST_CASE("Any cut of a text gives the logits of one long pass while the memory covers the history") {
  Random random(1);
  for (const Config& config : all_variants()) {
    CAPTURE(to_string(config));
    const TransformerXL model = random_model(config);
    const Tokens tokens = random_tokens(B, L, config.vocabulary);
    const Tensor whole = logits_in_pieces(model, tokens, {L}, covering(config));
    for (int trial = 0; trial < 4; ++trial) {
      check_close(logits_in_pieces(model, tokens, random_cut(L, random), covering(config)), whole, rounding);
    }
  }
}

TEST_CASE("One token at a time gives the logits of one long pass") {
  for (const Config& config : all_variants()) {
    CAPTURE(to_string(config));
    const TransformerXL model = random_model(config);
    const Tokens tokens = random_tokens(B, L, config.vocabulary);
    const std::vector<Index> ones(static_cast<std::size_t>(L), 1);
    check_close(logits_in_pieces(model, tokens, ones, covering(config)),
                logits_in_pieces(model, tokens, {L}, covering(config)), rounding);
  }
}

TEST_CASE("A memory that does not cover the history changes the logits of what is cut off, and only those") {
  const TransformerXL model = random_model(tiny_config());
  const Tokens tokens = random_tokens(B, 8, 7);
  const Tensor whole = logits_in_pieces(model, tokens, {8}, 8), cut = logits_in_pieces(model, tokens, {4, 4}, 0);
  check_close(cut.narrow(1, 0, 4), whole.narrow(1, 0, 4), rounding);
  CHECK(std::abs(cut.at({0, 4, 0}) - whole.at({0, 4, 0})) > Real(1e-3));
  // Without memory each segment is a Transformer of its own.
  check_close(cut.narrow(1, 4, 4), logits_in_pieces(model, columns(tokens, 4, 4), {4}, 0), rounding);
}

TEST_CASE("A later token never changes an earlier logit, bit for bit") {
  for (const Config& config : all_variants()) {
    CAPTURE(to_string(config));
    const TransformerXL model = random_model(config);
    const Tokens tokens = random_tokens(B, L, config.vocabulary);
    const Tensor before = logits_in_pieces(model, tokens, {4, 7}, 5);
    for (Index t = 0; t < L; ++t) {
      Tokens changed = tokens;
      for (Index b = 0; b < B; ++b) changed[b * L + t] = (changed[b * L + t] + 1) % config.vocabulary;
      const Tensor after = logits_in_pieces(model, changed, {4, 7}, 5);
      CHECK(same_bits(after.narrow(1, 0, t), before.narrow(1, 0, t)));
      CHECK_FALSE(same_bits(after.narrow(1, t, 1), before.narrow(1, t, 1)));
    }
  }
}

TEST_CASE("A later token never changes an earlier logit, bit for bit, not even when its embedding is NaN or infinite") {
  for (const Real content : {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity()}) {
    for (Config config : all_variants()) {
      config.tie_weights = false;  // else the logit of that token is NaN at every position
      TransformerXL model = random_model(config);
      const Tokens tokens(Shape{1, 5}, {1, 2, 3, 6, 1});
      const Memory memory = random_memory(config, 1, 4, 5);
      const Tensor before = model(tokens, memory, Mode::evaluate()).logits.value().narrow(1, 0, 3);
      Tensor table = model.embedding.table.value().clone();
      table.narrow(0, 6, 1).fill_in_place(content);
      model.embedding.table.set_value(table);
      const Tensor logits = model(tokens, memory, Mode::evaluate()).logits.value();
      CHECK(same_bits(logits.narrow(1, 0, 3), before));
      CHECK_FALSE(all_finite(logits.narrow(1, 3, 1)));
    }
  }
}

TEST_CASE("A row never changes another row, bit for bit") {
  for (const Config& config : all_variants()) {
    CAPTURE(to_string(config));
    const TransformerXL model = random_model(config);
    const Tokens tokens = random_tokens(B, L, config.vocabulary);
    Tokens changed = tokens;
    for (Index t = 0; t < L; ++t) changed[1 * L + t] = (tokens[1 * L + t] + 1) % config.vocabulary;
    const Tensor a = logits_in_pieces(model, tokens, {4, 4, 3}, 5), b = logits_in_pieces(model, changed, {4, 4, 3}, 5);
    for (const Index row : {0, 2}) CHECK(same_bits(a.narrow(0, row, 1), b.narrow(0, row, 1)));
    CHECK_FALSE(same_bits(a.narrow(0, 1, 1), b.narrow(0, 1, 1)));
  }
}

TEST_CASE("A state before a reset changes nothing after it, bit for bit, not even one that is NaN") {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  for (const Config& config : all_variants()) {
    CAPTURE(to_string(config));
    const TransformerXL model = random_model(config);
    const Tokens tokens = random_tokens(B, L, config.vocabulary);
    const std::vector<Index> lengths = {4, 1, 4, 2};
    Memory one = random_memory(config, B, 5, 5, 1), other = random_memory(config, B, 5, 5, 2), broken = one;
    Memory kept = one;
    for (Variable& layer : broken.layers) {
      Tensor value = layer.value().clone();
      value.narrow(0, 1, 1).fill_in_place(nan);
      layer = Variable(value);
    }
    one = reset_rows(one, {1});
    other = reset_rows(other, {1});
    broken = reset_rows(broken, {1});
    const Tensor a = logits_in_pieces(model, tokens, lengths, one), b = logits_in_pieces(model, tokens, lengths, other),
                 c = logits_in_pieces(model, tokens, lengths, broken),
                 d = logits_in_pieces(model, tokens, lengths, kept);
    CHECK(same_bits(a.narrow(0, 1, 1), b.narrow(0, 1, 1)));
    CHECK(same_bits(a, c));
    for (const Index row : {0, 2}) CHECK(same_bits(a.narrow(0, row, 1), d.narrow(0, row, 1)));  // these go on
    CHECK_FALSE(same_bits(a.narrow(0, 1, 1), d.narrow(0, 1, 1)));
  }
}

TEST_CASE("A row after a reset gives the logits of that row alone") {
  for (const Config& config : all_variants()) {
    CAPTURE(to_string(config));
    const TransformerXL model = random_model(config);
    const Tokens tokens = random_tokens(B, L, config.vocabulary);
    const std::vector<Index> lengths = {3, 2, 4, 2};
    for (const Index limit : {0, 2, 5, 20}) {
      Memory memory = reset_rows(random_memory(config, B, std::min<Index>(limit, 6), limit), {0, 2});
      if (config.same_length && limit == 0) continue;
      const Tensor together = logits_in_pieces(model, tokens, lengths, memory);
      for (const Index row : {0, 2}) {
        check_close(together.narrow(0, row, 1), logits_in_pieces(model, row_of(tokens, row), lengths, limit), rounding);
      }
    }
  }
}

TEST_CASE("Moving a text along the position axis changes nothing") {
  for (const Config& config : all_variants()) {
    CAPTURE(to_string(config));
    const TransformerXL model = random_model(config);
    const Tokens tokens = random_tokens(B, L, config.vocabulary);
    const Tensor at_start = logits_in_pieces(model, tokens, {6, 5}, 12);
    for (const Index places : {1, 4, 9}) {
      Memory before = reset_rows(random_memory(config, B, places, 12), {0, 1, 2});
      check_close(logits_in_pieces(model, tokens, {6, 5}, before), at_start, rounding);
    }
  }
}

TEST_CASE("Every parameter of a two-layer model behind a memory has the gradient of central differences") {
  if (sizeof(Real) != 8) return;  // float is too coarse for differences
  if (sizeof(Real) != 8) return;
  for (const bool pre_norm : {false, true}) {
    Config config = tiny_config();
    config.pre_norm = pre_norm;
    config.tie_weights = pre_norm;
    TransformerXL model = random_model(config);
    const Memory memory = random_memory(config, 2, 3, 5);
    const Tokens tokens = random_tokens(2, 4, config.vocabulary);
    const auto loss = [&](const std::vector<Variable>& v) {
      return segment_loss(with_parameters(model, v), tokens, memory);
    };
    const GradientCheck check = check_gradient(loss, parameter_values(model));
    CAPTURE(to_string(check));
    CHECK(check.error < 1e-7);
  }
}

TEST_CASE("With the stop-gradient a segment has the gradient of central differences with the memory held fixed") {
  if (sizeof(Real) != 8) return;  // float is too coarse for differences
  if (sizeof(Real) != 8) return;
  TransformerXL model = random_model(tiny_config());
  const Tokens tokens = random_tokens(2, 7, 7);
  const Memory held = model(columns(tokens, 0, 3), empty_memory(model.config, 2, 5), Mode::evaluate()).memory;
  const auto loss = [&](const std::vector<Variable>& v) {
    return segment_loss(with_parameters(model, v), columns(tokens, 3, 4), held);
  };
  const GradientCheck check = check_gradient(loss, parameter_values(model));
  CAPTURE(to_string(check));
  CHECK(check.error < 1e-7);
  const std::vector<Tensor> fixed = gradients_of(model, segment_loss(model, columns(tokens, 3, 4), held));
  CHECK(same_bits(gradients_of(model, last_loss(model, tokens, 2, 5)), fixed));

  model.config.stop_memory_gradient = false;  // and this is what it keeps away
  CHECK_FALSE(same_bits(gradients_of(model, last_loss(model, tokens, 2, 5)), fixed));
}

TEST_CASE("Without the stop-gradient a segment has the gradient of central differences through all segments") {
  if (sizeof(Real) != 8) return;  // float is too coarse for differences
  if (sizeof(Real) != 8) return;
  for (const bool pre_norm : {false, true}) {
    Config config = tiny_config();
    config.stop_memory_gradient = false;
    config.pre_norm = pre_norm;
    TransformerXL model = random_model(config);
    const Tokens tokens = random_tokens(1, 10, 7);
    const auto loss = [&](const std::vector<Variable>& v) {
      return last_loss(with_parameters(model, v), tokens, 3, 4);
    };
    const GradientCheck check = check_gradient(loss, parameter_values(model));
    CAPTURE(to_string(check));
    CHECK(check.error < 1e-7);
  }
}

TEST_CASE("A row that was reset sends no gradient to what was before, even without the stop-gradient") {
  Config config = tiny_config();
  config.stop_memory_gradient = false;
  const TransformerXL model = random_model(config);
  Memory memory = random_memory(config, 2, 3, 5);
  for (Variable& layer : memory.layers) layer = parameter(layer.value());
  backward(segment_loss(model, random_tokens(2, 5, 7), reset_rows(memory, {1})));
  for (const Variable& layer : memory.layers) {
    CHECK(same_bits(layer.gradient().narrow(0, 1, 1), Tensor::zeros({1, 3, 4})));
    CHECK_FALSE(same_bits(layer.gradient().narrow(0, 0, 1), Tensor::zeros({1, 3, 4})));
  }
}

TEST_CASE("The graph has as many nodes after segment 300 as after segment 3, unless the gradient runs on") {
  const Tokens tokens = random_tokens(2, 4, 7);
  const auto nodes_after = [&](bool stop, int segments) {
    Config config = tiny_config();
    config.stop_memory_gradient = stop;
    const TransformerXL model = random_model(config);
    const std::int64_t before = live_node_count();
    Memory memory = empty_memory(config, 2, 5);
    for (int s = 0; s < segments; ++s) {
      const Output output = model(columns(tokens, 0, 3), memory, Mode::evaluate());
      backward(mean_cross_entropy(output.logits, columns(tokens, 1, 3)).loss, stop ? Graph::release : Graph::keep);
      memory = output.memory;
    }
    return live_node_count() - before;
  };
  CHECK(nodes_after(true, 3) == 2);  // the memories of two layers
  CHECK(nodes_after(true, 300) == 2);
  CHECK(nodes_after(false, 6) > nodes_after(false, 3) + 50);
}

}  // namespace segue::xl_truths_test
