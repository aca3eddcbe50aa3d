#include "xl/model.hpp"

#include <cmath>

#include "autograd/arithmetic.hpp"
#include "autograd/matmul.hpp"
#include "autograd/shaping.hpp"
#include "tensor/fail.hpp"
#include "xl/sinusoids.hpp"

namespace segue {

void check_segment(const Config& config, const Tokens& tokens, const Memory& memory, Where where) {
  const Index N = static_cast<Index>(memory.layers.size());
  if (tokens.shape.rank() != 2 || tokens.shape[0] != memory.batch() || N != config.layers) {
    fail<ShapeError>(
        where,
        "model: tokens {} with a memory of {} rows and {} layers; expected [{}, T] and {} layers",
        tokens.shape, memory.batch(), N, memory.batch(), config.layers);
  }
  if (config.same_length && memory.limit == 0) {
    fail<ValueError>(where,
                     "model: same_length sees distances below the memory's limit, which is 0");
  }
}

TransformerXL::TransformerXL(const Config& c, Random& random, Where where)
    : LanguageModel(c, where),
      embedding(c.vocabulary, c.width, random),
      u(parameter(Tensor::zeros({c.heads, c.head_width}), "u")),
      v(parameter(Tensor::zeros({c.heads, c.head_width}), "v")),
      output_weight(embedding.table),
      output_bias(parameter(Tensor::zeros({c.vocabulary}), "output_bias")) {
  for (Index n = 0; n < c.layers; ++n) layers.emplace_back(c, random);
  if (!c.tie_weights) output_weight = Embedding(c.vocabulary, c.width, random).table;
}

Output TransformerXL::operator()(const Tokens& tokens, const Memory& memory, const Mode& mode,
                                 Where where) const {
  check_segment(config, tokens, memory, where);
  const Index T = tokens.shape[1], K = memory.length() + T;
  const Variable R(distance_sinusoids(K, config.clamp_length, config.width, where), "R");
  const Index window = config.same_length ? memory.limit : 0;
  const Positions positions = {mode.dropout(R, config.dropout), u, v,
                               attention_mask(T, memory, window)};

  const Real root_D = std::sqrt(static_cast<Real>(config.width));
  Variable h = mode.dropout(scale(embedding(tokens, where), root_D), config.dropout);  // [B, T, D]
  Memory next = memory;
  for (std::size_t n = 0; n < layers.size(); ++n) {
    const Variable& m = memory.layers[n];
    next.layers[n] = update_memory(m, h, memory.limit, config.stop_memory_gradient);
    h = run_layer(n, h, m, positions, mode);
  }
  for (Index& read : next.tokens_read) read += T;

  h = mode.dropout(h, config.dropout);
  const Variable logits = matmul(h, transpose(output_weight, 0, 1)) + output_bias;  // [B, T, V]
  return {logits, next};
}

Variable TransformerXL::run_layer(std::size_t n, const Variable& h, const Variable& m,
                                  const Positions& positions, const Mode& mode) const {
  Projections known = layers[n].project(m, positions.R);
  return layers[n](h, known, positions, mode);
}

void TransformerXL::visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
  embedding.visit_parameters(prefix + "embedding.", visit);
  visit(prefix + "u", u);
  visit(prefix + "v", v);
  for (std::size_t n = 0; n < layers.size(); ++n) {
    layers[n].visit_parameters(prefix + "layers." + std::to_string(n) + ".", visit);
  }
  if (!config.tie_weights) visit(prefix + "output_weight", output_weight);
  visit(prefix + "output_bias", output_bias);
}

}  // namespace segue
