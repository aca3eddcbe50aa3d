// What the tests of xl share: tiny models, random texts, and a text run through a model in pieces.
#pragma once

#include <string>
#include <vector>

#include "nn/loss.hpp"
#include "tensor/elementwise.hpp"
#include "tensor/indexing.hpp"
#include "tests/support/random_inputs.hpp"
#include "xl/model.hpp"
#include "xl/tools/config_metadata.hpp"

namespace segue {

/// All widths differ, so that no two can be mistaken for each other.
inline Config tiny_config() {
  return {.vocabulary = 7,
          .layers = 2,
          .heads = 2,
          .head_width = 3,
          .width = 4,
          .feed_forward_width = 5,
          .segment_length = 4,
          .memory_length = 5};
}
/// Just large enough to learn a periodic copy of four symbols.
inline Config learner_config() {
  return {
      .vocabulary = 4, .head_width = 8, .width = 16, .feed_forward_width = 32, .segment_length = 4, .memory_length = 5};
}

/// Pre- and post-norm, tied and untied, clamped and not, with a window and without: all sixteen.
inline std::vector<Config> all_variants() {
  std::vector<Config> all;
  for (int bits = 0; bits < 16; ++bits) {
    Config config = tiny_config();
    config.pre_norm = (bits & 1) != 0;
    config.tie_weights = (bits & 2) != 0;
    config.clamp_length = (bits & 4) != 0 ? 3 : 0;
    config.same_length = (bits & 8) != 0;
    all.push_back(config);
  }
  return all;
}
inline std::string to_string(const Config& config) {
  std::string text;
  for (const auto& [name, value] : to_metadata(config)) text.append(name).append("=").append(value).append(" ");
  return text;
}

/// Every parameter is moved a little, biases and gains included, so that none of them goes without effect.
inline void move_parameters(LanguageModel& model, Random& random) {
  for (Parameter& p : parameters(model)) {
    p.variable.set_value(add(p.variable.value(), random.normal(p.variable.shape(), 0, Real(0.3))));
  }
}
inline TransformerXL random_model(const Config& config, std::uint64_t seed = 3) {
  Random random(seed);
  TransformerXL model(config, random);
  move_parameters(model, random);
  return model;
}

/// The same model computing with other variables in the place of its parameters.
inline TransformerXL with_parameters(const TransformerXL& original, const std::vector<Variable>& variables) {
  TransformerXL model = original.clone();
  std::size_t next = 0;
  model.visit_parameters("", [&](const std::string&, Variable& p) { p = variables[next++]; });
  if (model.config.tie_weights) model.output_weight = model.embedding.table;
  return model;
}
inline std::vector<Tensor> parameter_values(TransformerXL& model) {
  std::vector<Tensor> values;
  for (const Parameter& p : parameters(model)) values.push_back(p.variable.value().clone());
  return values;
}
inline bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i) same = same_bits(a[i], b[i]);
  return same;
}

inline Tokens random_tokens(Index B, Index T, Index V, std::uint64_t seed = 5) {
  Random random(seed);
  Tokens tokens({B, T});
  for (Index& id : tokens.ids) id = random.below(V);
  return tokens;
}
/// Columns start .. start+length-1 of tokens [B, T].
inline Tokens columns(const Tokens& tokens, Index start, Index length) {
  Tokens part({tokens.shape[0], length});
  for (Index b = 0; b < tokens.shape[0]; ++b) {
    for (Index i = 0; i < length; ++i) part[b * length + i] = tokens[b * tokens.shape[1] + start + i];
  }
  return part;
}
/// Row b of tokens [B, T], as [1, T].
inline Tokens row_of(const Tokens& tokens, Index b) {
  const auto first = tokens.ids.begin() + b * tokens.shape[1];
  return Tokens({1, tokens.shape[1]}, std::vector<Index>(first, first + tokens.shape[1]));
}

/// Tokens [B, L] after `memory`, in pieces of the given lengths -> logits [B, L, V]; `memory` becomes the one behind.
inline Tensor logits_in_pieces(const LanguageModel& model, const Tokens& tokens, const std::vector<Index>& lengths,
                               Memory& memory) {
  const NoGradientGuard no_gradient;
  std::vector<Tensor> parts;
  Index start = 0;
  for (const Index length : lengths) {
    const Output output = model(columns(tokens, start, length), memory, Mode::evaluate());
    parts.push_back(output.logits.value());
    memory = output.memory;
    start += length;
  }
  return concat(parts, 1);
}
/// The same from an empty memory.
inline Tensor logits_in_pieces(const LanguageModel& model, const Tokens& tokens, const std::vector<Index>& lengths,
                               Index limit) {
  Memory memory = empty_memory(model.config, tokens.shape[0], limit);
  return logits_in_pieces(model, tokens, lengths, memory);
}

/// A memory of `length` random positions in every row and layer.
inline Memory random_memory(const Config& config, Index B, Index length, Index limit, std::uint64_t seed = 21) {
  Memory memory = empty_memory(config, B, limit);
  for (Variable& layer : memory.layers) layer = Variable(random_tensor({B, length, config.width}, -1, 1, seed++));
  memory.tokens_read.assign(memory.tokens_read.size(), length);
  return memory;
}

/// What attention sees of T queries behind a memory, with the settings of `config`; keys by distance from `R`.
inline Pass pass_of(const Config& config, const Variable& R, const Variable& u, const Variable& v, Index T,
                    const Memory& memory, const Mode& mode = Mode::evaluate()) {
  return {config, mode, R, u, v, visible_keys(T, memory, config.same_length ? memory.limit : 0)};
}

/// 1e-12 in the double build; what stays of 24 bits after a few layers in the float build.
inline constexpr double rounding = sizeof(Real) == 8 ? 1e-12 : 2e-5;

}  // namespace segue
