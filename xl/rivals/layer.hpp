// xl/layer.hpp with an attention that takes its positions from a scheme.
#pragma once

#include <memory>

#include "nn/feed_forward.hpp"
#include "nn/layer_norm.hpp"
#include "xl/rivals/encoding.hpp"
#include "xl/rivals/scheme.hpp"

namespace segue {

struct RivalAttention {
  RivalAttention(const Config& config, const Encoding& encoding, Random& random);
  /// How much query i wants key j, before the mask. [B, T, D] and [B, K, D] -> [B, H, T, K]
  Variable scores(const Variable& h, const Variable& context, const Positions& positions) const;
  /// As RelativeAttention. [B, T, D] and [B, K, D] -> [B, T, D]
  Variable operator()(const Variable& h, const Variable& context, const Positions& positions,
                      const Mode& mode) const;
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit);

  Index heads;
  Real dropout;
  Variable w_q;    // [D, H Dh]
  Variable w_k_E;  // [D, H Dh]
  std::unique_ptr<PositionScheme> scheme;
  Variable w_v;  // [D, H Dh]
  Variable w_o;  // [H Dh, D]
};

struct RivalLayer {
  RivalLayer(const Config& config, const Encoding& encoding, Random& random);
  /// h: [B, T, D], m: this layer's memory [B, M, D] -> [B, T, D].
  Variable operator()(const Variable& h, const Variable& m, const Positions& positions,
                      const Mode& mode) const;
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit);

  bool pre_norm;
  Real dropout;
  RivalAttention attention;
  LayerNorm attention_norm;
  FeedForward feed_forward;
  LayerNorm feed_forward_norm;
};

}  // namespace segue
