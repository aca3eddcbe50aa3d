// One layer: attention over memory and segment, then the feed-forward layer, each with a residual path and layer norm.
#pragma once

#include "nn/feed_forward.hpp"
#include "nn/layer_norm.hpp"
#include "xl/attention.hpp"

namespace segue {

struct Layer {
  Layer(const Config& config, Random& random);
  /// h: [B, T, D], m: this layer's memory [B, M, D] -> [B, T, D].
  Variable operator()(const Variable& h, const Variable& m, const Positions& positions, const Mode& mode) const;
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit);

  bool pre_norm;
  Real dropout;
  RelativeAttention attention;
  LayerNorm attention_norm;
  FeedForward feed_forward;
  LayerNorm feed_forward_norm;
};

}  // namespace segue
