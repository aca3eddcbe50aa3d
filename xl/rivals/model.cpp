#include "xl/rivals/model.hpp"

#include <cmath>

#include "autograd/arithmetic.hpp"
#include "autograd/matmul.hpp"
#include "autograd/shaping.hpp"
#include "xl/kernels/kept_sinusoids.hpp"
#include "xl/model.hpp"
#include "xl/rivals/absolute.hpp"

namespace segue {

RivalTransformer::RivalTransformer(const Config& c, const Encoding& e, Random& random, Where where)
    : LanguageModel(c, where),
      encoding(e),
      embedding(c.vocabulary, c.width, random),
      u(parameter(Tensor::zeros({c.heads, c.head_width}), "u")),
      v(parameter(Tensor::zeros({c.heads, c.head_width}), "v")),
      output_bias(parameter(Tensor::zeros({c.vocabulary}), "output_bias")) {
  check(e, c, where);
  for (Index n = 0; n < c.layers; ++n) layers.emplace_back(c, e, random);
  if (!c.tie_weights) output_weight = Embedding(c.vocabulary, c.width, random).table;
  if (e.scheme == Scheme::learned_absolute)
    position_table = Embedding(e.rows, c.width, random).table;
}

Variable RivalTransformer::embed(const Tokens& tokens, const Memory& memory, Where where) const {
  const Index T = tokens.shape[1], D = config.width;
  const Real root_D = std::sqrt(static_cast<Real>(D));
  const Variable h = scale(embedding(tokens, where), root_D);  // [B, T, D]
  switch (encoding.scheme) {
    case Scheme::sinusoids_restarting:
      return h + sinusoid_codes(restarting_positions(memory, T), D);
    case Scheme::sinusoids_running:
      return h + sinusoid_codes(running_positions(memory, T), D);
    case Scheme::learned_absolute:
      return h +
             scale(table_codes(position_table, running_positions(memory, T), encoding.clamp, where),
                   root_D);
    default:  // relative to each query, or not at all
      return h;
  }
}

Pass RivalTransformer::pass(Index T, const Memory& memory, const Mode& mode) const {
  const Index K = memory.length() + T;
  const VisibleKeys visible = visible_keys(T, memory, config.same_length ? memory.limit : 0);
  if (encoding.scheme != Scheme::transformer_xl) {
    return {config, mode, Variable(), Variable(), Variable(), visible};
  }
  const Variable R(kept_sinusoids(K, config.clamp_length, config.width), "R");
  return {config, mode, mode.dropout(R, config.dropout), u, v, visible};
}

Output RivalTransformer::operator()(const Tokens& tokens, const Memory& memory, const Mode& mode,
                                    Where where) const {
  check_segment(config, tokens, memory, where);
  const Pass shared = pass(tokens.shape[1], memory, mode);
  const Variable embedded = mode.dropout(embed(tokens, memory, where), config.dropout);
  const auto run = [&](std::size_t n, const Variable& h, const Variable& m) {
    return layers[n](h, m, shared);
  };
  const auto [h, next] = run_layers(embedded, memory, config, run);
  const Variable states = mode.dropout(h, config.dropout);
  const Variable& weight = config.tie_weights ? embedding.table : output_weight;
  return {matmul(states, transpose(weight, 0, 1)) + output_bias, next};  // [B, T, V]
}

void RivalTransformer::visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
  embedding.visit_parameters(prefix + "embedding.", visit);
  if (encoding.scheme == Scheme::transformer_xl) {
    visit(prefix + "u", u);
    visit(prefix + "v", v);
  }
  if (encoding.scheme == Scheme::learned_absolute) visit(prefix + "position_table", position_table);
  for (std::size_t n = 0; n < layers.size(); ++n) {
    layers[n].visit_parameters(prefix + "layers." + std::to_string(n) + ".", visit);
  }
  if (!config.tie_weights) visit(prefix + "output_weight", output_weight);
  visit(prefix + "output_bias", output_bias);
}

std::unique_ptr<LanguageModel> make_model(const Config& config, const Encoding& encoding,
                                          Random& random, Where where) {
  Encoding plain;
  plain.rows = encoding.rows;
  plain.clamp = encoding.clamp;  // neither is of any use there
  if (encoding == plain) return std::make_unique<TransformerXL>(config, random, where);
  return std::make_unique<RivalTransformer>(config, encoding, random, where);
}

}  // namespace segue
