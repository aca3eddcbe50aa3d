// xl/layer.hpp with an attention that takes its positions from a scheme.
#pragma once

#include <memory>

#include "xl/layer.hpp"
#include "xl/rivals/encoding.hpp"
#include "xl/rivals/scheme.hpp"

namespace segue {

struct RivalAttention {
  RivalAttention(const Config& config, const Encoding& encoding, Random& random);
  /// How much query i of the segment h [B, T, D] wants key j of the rows [m ; h], [B, K, D], before
  /// the mask. -> [B, H, T, K]
  Variable scores(const Variable& h, const Variable& rows, const Pass& pass) const;
  /// What h reads of those rows. -> [B, T, D]
  Variable operator()(const Variable& h, const Variable& rows, const Pass& pass) const;
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit);

  Variable w_q;    // [D, H Dh]
  Variable w_k_E;  // [D, H Dh]
  std::unique_ptr<PositionScheme> scheme;
  Variable w_v;  // [D, H Dh]
  Variable w_o;  // [H Dh, D]
};

struct RivalLayer {
  RivalLayer(const Config& config, const Encoding& encoding, Random& random);
  /// h: [B, T, D], m: this layer's memory [B, M, D] -> [B, T, D].
  Variable operator()(const Variable& h, const Variable& m, const Pass& pass) const;
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit);

  RivalAttention attention;
  LayerNorm attention_norm;
  FeedForward feed_forward;
  LayerNorm feed_forward_norm;
};

}  // namespace segue
