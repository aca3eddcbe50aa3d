#include "xl/model.hpp"

#include <cmath>
#include <limits>

#include "autograd/arithmetic.hpp"
#include "autograd/matmul.hpp"
#include "autograd/shaping.hpp"
#include "tensor/fail.hpp"
#include "xl/kernels/kept_sinusoids.hpp"

namespace segue {

void check_segment(const Config& config, const Tokens& tokens, const Memory& memory, Where where) {
  const Index N = static_cast<Index>(memory.layers.size());
  if (tokens.shape.rank() != 2 || tokens.shape[0] != memory.batch() || N != config.layers) {
    fail<ShapeError>(
        where,
        "model: tokens {} with a memory of {} rows and {} layers; expected [{}, T] and "
        "{} layers",
        tokens.shape, memory.batch(), N, memory.batch(), config.layers);
  }
  const Shape expected = {memory.batch(), memory.length(), config.width};
  for (const Variable& m : memory.layers) {
    if (m.shape() == expected) continue;
    fail<ShapeError>(where, "model: a layer's memory {}; expected {}", m.shape(), expected);
  }
  constexpr Index most = std::numeric_limits<Index>::max();
  for (const Index read : memory.tokens_read) {
    if (read >= 0 && read <= most - tokens.shape[1]) continue;
    fail<ValueError>(where, "model: a memory of {} tokens read; expected 0 .. {}", read, most);
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
  run_layer = [](std::size_t, const Layer& layer, const Variable& h, const Variable& m,
                 const Pass& pass) { return layer(h, m, pass); };
}

Output TransformerXL::operator()(const Tokens& tokens, const Memory& memory, const Mode& mode,
                                 Where where) const {
  const auto [h, next] = states(tokens, memory, mode, run_layer, where);
  return {logits(h, mode), next};
}

States TransformerXL::states(const Tokens& tokens, const Memory& memory, const Mode& mode,
                             const LayerRun& run, Where where) const {
  check_segment(config, tokens, memory, where);
  const Index T = tokens.shape[1];
  const Index K = memory.length() + T;
  const Index window = config.same_length ? memory.limit : 0;
  const Variable R(kept_sinusoids(K, config.clamp_length, config.width, where), "R");
  const Pass pass = {config, mode, mode.dropout(R, config.dropout),
                     u,      v,    visible_keys(T, memory, window)};

  const Real root_D = std::sqrt(static_cast<Real>(config.width));
  const Variable h = mode.dropout(scale(embedding(tokens, where), root_D), config.dropout);
  return run_layers(h, memory, config, [&](std::size_t n, const Variable& x, const Variable& m) {
    return run(n, layers[n], x, m, pass);
  });
}

States run_layers(
    Variable h, const Memory& memory, const Config& config,
    const std::function<Variable(std::size_t n, const Variable& h, const Variable& m)>& run) {
  Memory next = memory;
  for (Index& read : next.tokens_read) read += h.dim(1);
  for (std::size_t n = 0; n < memory.layers.size(); ++n) {
    const Variable& m = memory.layers[n];
    next.layers[n] = update_memory(m, h, memory.limit, config.stop_memory_gradient);
    h = run(n, h, m);
  }
  return {h, next};
}

Variable TransformerXL::logits(const Variable& h, const Mode& mode) const {
  const Variable states = mode.dropout(h, config.dropout);
  return matmul(states, transpose(output_weight, 0, 1)) + output_bias;  // [B, T, V]
}

TransformerXL TransformerXL::clone() const {
  TransformerXL copy = *this;
  copy.visit_parameters(
      "", [](const std::string&, Variable& p) { p = parameter(p.value().clone(), p.label()); });
  if (config.tie_weights) copy.output_weight = copy.embedding.table;
  return copy;
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
