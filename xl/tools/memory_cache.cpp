#include "xl/tools/memory_cache.hpp"

#include <typeinfo>

#include "autograd/matmul.hpp"
#include "autograd/shaping.hpp"

namespace segue {
namespace {

// The last n positions of a state or projection [B, L, ..].
Variable latest_positions(const Variable& x, Index n) { return narrow(x, 1, x.dim(1) - n, n); }

}  // namespace

Stamp stamp_of(const Variable& x) { return {x.value().storage(), x.value().storage()->version}; }

Output CachingTransformerXL::operator()(const Tokens& tokens, const Memory& memory,
                                        const Mode& mode, Where where) const {
  kept_.resize(layers.size());
  const Output output = TransformerXL::operator()(tokens, memory, mode, where);
  for (std::size_t n = 0; n < layers.size(); ++n)
    kept_[n].memory = stamp_of(output.memory.layers[n]);
  return output;
}

Variable CachingTransformerXL::run_layer(std::size_t n, const Variable& h, const Variable& m,
                                         const Positions& positions, const Mode& mode) const {
  if (mode.random() != nullptr) return TransformerXL::run_layer(n, h, m, positions, mode);
  const NoGradientGuard no_gradient;
  const RelativeAttention& attention = layers[n].attention;
  const Stamp weights = stamp_of(attention.w_k_E);
  const Variable& R = positions.R;
  Kept& kept = kept_[n];
  Projections& known = kept.known;
  if (m.dim(1) > 0 && stamp_of(m) == kept.memory && weights == kept.weights) {
    const Variable r = R.dim(0) == known.r.dim(0) ? known.r : matmul(R, attention.w_k_R);
    known = {latest_positions(known.k, m.dim(1)), latest_positions(known.values, m.dim(1)), r};
  } else {
    known = layers[n].project(m, R);
  }
  kept.weights = weights;
  return layers[n](h, known, positions, mode);
}

std::shared_ptr<const LanguageModel> reading_model(const LanguageModel& model) {
  if (typeid(model) == typeid(TransformerXL)) {
    return std::make_shared<CachingTransformerXL>(static_cast<const TransformerXL&>(model));
  }
  return {std::shared_ptr<const LanguageModel>(), &model};
}

}  // namespace segue
