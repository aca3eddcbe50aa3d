// What the tests of the rivals share: tiny models of every encoding, their parameters moved a little.
#pragma once

#include <memory>

#include "tests/support/tiny_models.hpp"
#include "xl/rivals/model.hpp"

namespace segue {

/// All encodings and some of the variants of the four terms. The tables cover `rows` positions or distances.
inline std::vector<Encoding> tiny_encodings(Index rows, bool clamp) {
  std::vector<Encoding> all = all_encodings();
  for (const char* name :
       {"transformer_xl:ac", "transformer_xl:bd+values", "transformer_xl:abd", "transformer_xl:none"})
    all.push_back(encoding_named(name));
  for (Encoding& encoding : all) {
    encoding.rows = rows;
    encoding.clamp = clamp;
  }
  return all;
}

/// Random weights moved by random numbers, biases and gains included, as random_model does it.
inline RivalTransformer random_rival(const Config& config, const Encoding& encoding, std::uint64_t seed = 3) {
  Random random(seed);
  RivalTransformer model(config, encoding, random);
  for (Parameter& p : parameters(model)) {
    p.variable.set_value(add(p.variable.value(), random.normal(p.variable.shape(), 0, Real(0.3))));
  }
  return model;
}

/// Tokens [B, L] after `memory`, in pieces of the given lengths -> logits [B, L, V]; `memory` becomes the one behind.
inline Tensor rival_logits(const LanguageModel& model, const Tokens& tokens, const std::vector<Index>& lengths,
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
inline Tensor rival_logits(const LanguageModel& model, const Tokens& tokens, const std::vector<Index>& lengths,
                           Index limit) {
  Memory memory = empty_memory(model.config, tokens.shape[0], limit);
  return rival_logits(model, tokens, lengths, memory);
}

}  // namespace segue
