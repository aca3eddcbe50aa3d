#include "xl/tools/memory_cache.hpp"

#include <algorithm>
#include <typeinfo>

#include "autograd/matmul.hpp"
#include "autograd/shaping.hpp"

namespace segue {
namespace {

// The last n positions of a state or projection [B, L, ..].
Variable latest_positions(const Variable& x, Index n) { return narrow(x, 1, x.dim(1) - n, n); }

}  // namespace

Stamp stamp_of(const Variable& x) { return {x.value().storage(), x.value().storage()->version}; }

Output CachingTransformerXL::operator()(const Tokens& tokens, const Memory& memory, const Mode& mode,
                                        Where where) const {
  kept_.resize(layers.size());
  const Output output = TransformerXL::operator()(tokens, memory, mode, where);
  for (std::size_t n = 0; n < layers.size(); ++n) {
    kept_[n].state = stamp_of(output.memory.layers[n]);
  }
  new_states_ = std::min(tokens.shape[1], memory.limit);
  return output;
}

Variable CachingTransformerXL::run_layer(std::size_t n, const Variable& h, const Variable& m,
                                         const Positions& positions, const Mode& mode) const {
  if (mode.random() != nullptr) return TransformerXL::run_layer(n, h, m, positions, mode);
  const NoGradientGuard no_gradient;
  const Layer& layer = layers[n];
  const RelativeAttention& attention = layer.attention;
  Kept& kept = kept_[n];
  const Stamp weights = stamp_of(attention.w_k_E);
  const bool same_weights = kept.weights == weights;
  const bool known = same_weights && m.dim(1) > 0 && stamp_of(m) == kept.state;
  const Index known_states = known ? m.dim(1) - new_states_ : 0;

  Variable latest = latest_positions(m, m.dim(1) - known_states);
  if (layer.pre_norm) latest = layer.attention_norm(latest);
  Projections now = {matmul(latest, attention.w_k_E), matmul(latest, attention.w_v), kept.projections.r};
  if (known) {
    now.k = concat({latest_positions(kept.projections.k, known_states), now.k}, 1);
    now.values = concat({latest_positions(kept.projections.values, known_states), now.values}, 1);
  }
  const bool same_distances = same_weights && now.r.value().rank() == 2 && now.r.dim(0) == positions.R.dim(0);
  if (!same_distances) now.r = matmul(positions.R, attention.w_k_R);
  kept.weights = weights;
  kept.projections = now;
  return layer(h, now, positions, mode);
}

std::shared_ptr<const LanguageModel> reading_model(const LanguageModel& model) {
  if (typeid(model) == typeid(TransformerXL)) {
    return std::make_shared<CachingTransformerXL>(static_cast<const TransformerXL&>(model));
  }
  return {std::shared_ptr<const LanguageModel>(), &model};
}

}  // namespace segue
