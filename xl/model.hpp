// Transformer-XL (Dai et al. 2019, "Transformer-XL: Attentive Language Models Beyond a Fixed-Length Context").
#pragma once

#include <vector>

#include "nn/embedding.hpp"
#include "tensor/tokens.hpp"
#include "xl/layer.hpp"

namespace segue {

struct Output {
  Variable logits;  // [B, T, V]
  Memory memory;    // for the next segment
};

struct TransformerXL {
  /// Random weights. Throws ValueError for a config that makes no sense.
  TransformerXL(const Config& config, Random& random, Where where = Where::current());

  /// One segment: tokens [B, T] after what `memory` remembers. A pure function: the new memory comes back beside the
  /// logits. Throws ShapeError for tokens that do not fit the memory, RangeError for a token outside 0 .. V-1.
  Output operator()(const Tokens& tokens, const Memory& memory, const Mode& mode, Where where = Where::current()) const;

  /// Calls visit for each parameter; a tied output weight is the embedding and not named again.
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit);

  Config config;
  Embedding embedding;  // E, scaled by sqrt(D) when looked up
  Variable u, v;        // [H, Dh], shared by all layers
  std::vector<Layer> layers;
  Variable output_weight;  // [V, D]
  Variable output_bias;    // [V]
};

}  // namespace segue
