// One layer: attention over memory and segment, then the feed-forward layer, each with a residual
// path and layer norm.
#pragma once

#include <functional>

#include "nn/feed_forward.hpp"
#include "nn/layer_norm.hpp"
#include "xl/attention.hpp"

namespace segue {

struct Layer {
  Layer(const Config& config, Random& random);
  /// h: the segment [B, T, D], m: this layer's memory [B, M, D] -> [B, T, D].
  Variable operator()(const Variable& h, const Variable& m, const Pass& pass) const;
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit);

  /// Keys and values of this layer's memory m [B, M, D], which goes through the same norm as the
  /// segment.
  KeysValues project_memory(const Variable& m, const Config& config) const;
  /// Where attention finds the keys and values of memory and segment, given the rows of the segment
  /// that it reads, [B, T, D].
  using Context = std::function<KeysValues(const Variable& segment)>;
  /// The layer over any such context, with keys by distance r [K, H Dh].
  Variable read(const Variable& h, const Context& context, const Variable& r,
                const Pass& pass) const;

  RelativeAttention attention;
  LayerNorm attention_norm;
  FeedForward feed_forward;
  LayerNorm feed_forward_norm;
};

/// h and what a sub-layer makes of it, added up and normalised: norm(h + f(h)), or in pre-norm
/// h + f(norm(h)). In training f's result goes through dropout. [B, T, D] -> [B, T, D]
Variable residual(const Variable& h, const LayerNorm& norm, const Pass& pass,
                  const std::function<Variable(const Variable&)>& f);

}  // namespace segue
