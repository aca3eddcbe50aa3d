#include "xl/tools/memory_cache.hpp"

#include <typeinfo>
#include <utility>

#include "autograd/shaping.hpp"

namespace segue {
namespace {

// The last n positions of a state or projection [B, L, ..].
Variable latest_positions(const Variable& x, Index n) { return narrow(x, 1, x.dim(1) - n, n); }

// All that keys, values and distances depend on besides the memory itself.
std::vector<Stamp> stamps_of_weights(const Layer& layer) {
  const RelativeAttention& attention = layer.attention;
  const LayerNorm& norm = layer.attention_norm;
  return {Stamp(attention.w_k_E), Stamp(attention.w_v), Stamp(attention.w_k_R), Stamp(norm.gain),
          Stamp(norm.bias)};
}

}  // namespace

Stamp::Stamp(const Variable& x) : value(x.value()), version(x.value().storage()->version) {}

bool Stamp::operator==(const Stamp& other) const {
  return version == other.version && value.storage() == other.value.storage() &&
         value.offset() == other.value.offset() && value.shape() == other.value.shape() &&
         value.strides() == other.value.strides();
}

Output CachingTransformerXL::operator()(const Tokens& tokens, const Memory& memory,
                                        const Mode& mode, Where where) const {
  const auto [h, next] = states(tokens, memory, mode, where);
  const NoGradientGuard no_gradient;
  return {model.logits(h, mode), next};
}

States CachingTransformerXL::states(const Tokens& tokens, const Memory& memory, const Mode& mode,
                                    Where where) const {
  const NoGradientGuard no_gradient;
  kept_.resize(model.layers.size());
  const auto run = [this](std::size_t n, const Layer& layer, const Variable& h, const Variable& m,
                          const Pass& pass) { return run_layer(n, layer, h, m, pass); };
  const States out = model.states(tokens, memory, mode, run, where);
  for (std::size_t n = 0; n < kept_.size(); ++n) {
    if (!kept_[n].from.empty()) kept_[n].from.push_back(Stamp(out.memory.layers[n]));
  }
  return out;
}

Variable CachingTransformerXL::run_layer(std::size_t n, const Layer& layer, const Variable& h,
                                         const Variable& m, const Pass& pass) const {
  Kept& kept = kept_[n];
  std::vector<Stamp> from = stamps_of_weights(layer);
  from.push_back(Stamp(m));
  const Config& settings = pass.config;
  const bool same = from == kept.from && settings.clamp_length == kept.clamp_length &&
                    settings.pre_norm == kept.pre_norm;
  const Kept before =
      std::exchange(kept, {});  // a pass that fails or drops out leaves nothing behind
  if (pass.mode.random() != nullptr) return layer(h, m, pass);

  const Index M = m.dim(1);
  const KeysValues memory = same ? KeysValues{latest_positions(before.context.k, M),
                                              latest_positions(before.context.values, M)}
                                 : layer.project_memory(m, settings);
  const Variable r = same && before.r.dim(0) == pass.R.dim(0)
                         ? before.r
                         : layer.attention.project_distances(pass.R);
  KeysValues context;
  const auto join_segment = [&](const Variable& segment) {
    context = join(memory, layer.attention.project(segment));
    return context;
  };
  const Variable z = layer.read(h, join_segment, r, pass);
  from.pop_back();  // the memory that comes out takes the place of m
  kept = {from, settings.clamp_length, settings.pre_norm, context, r};
  return z;
}

std::shared_ptr<const LanguageModel> reading_model(const LanguageModel& model) {
  if (typeid(model) == typeid(TransformerXL)) {
    return std::make_shared<CachingTransformerXL>(static_cast<const TransformerXL&>(model));
  }
  return {std::shared_ptr<const LanguageModel>(), &model};
}

}  // namespace segue
