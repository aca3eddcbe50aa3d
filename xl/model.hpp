// Transformer-XL (Dai et al. 2019, "Transformer-XL: Attentive Language Models Beyond a Fixed-Length
// Context").
#pragma once

#include <vector>

#include "nn/embedding.hpp"
#include "xl/language_model.hpp"
#include "xl/layer.hpp"

namespace segue {

struct TransformerXL : LanguageModel {
  /// Random weights.
  TransformerXL(const Config& config, Random& random, Where where = Where::current());

  Output operator()(const Tokens& tokens, const Memory& memory, const Mode& mode,
                    Where where = Where::current()) const override;
  /// h after layer n, which reads its memory m. [B, T, D] -> [B, T, D]
  virtual Variable run_layer(std::size_t n, const Variable& h, const Variable& m,
                             const Positions& positions, const Mode& mode) const;
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit) override;

  Embedding embedding;  // E, scaled by sqrt(D) when looked up
  Variable u, v;        // [H, Dh], shared by all layers
  std::vector<Layer> layers;
  Variable output_weight;  // [V, D]
  Variable output_bias;    // [V]
};

}  // namespace segue
