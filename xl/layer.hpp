// One layer: attention over memory and segment, then the feed-forward layer, each with a residual
// path and layer norm.
#pragma once

#include "nn/feed_forward.hpp"
#include "nn/layer_norm.hpp"
#include "xl/attention.hpp"

namespace segue {

struct Layer {
  Layer(const Config& config, Random& random);
  /// What attention computes of this layer's memory m [B, M, D].
  Projections project(const Variable& m, const Variable& R) const;
  /// h: [B, T, D] after a memory of which attention knows this, to which it adds -> [B, T, D].
  Variable operator()(const Variable& h, Projections& known, const Positions& positions,
                      const Mode& mode) const;
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit);

  bool pre_norm;
  Real dropout;
  RelativeAttention attention;
  LayerNorm attention_norm;
  FeedForward feed_forward;
  LayerNorm feed_forward_norm;
};

}  // namespace segue
