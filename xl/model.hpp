// Transformer-XL (Dai et al. 2019, "Transformer-XL: Attentive Language Models Beyond a Fixed-Length
// Context").
#pragma once

#include <functional>
#include <vector>

#include "nn/embedding.hpp"
#include "xl/language_model.hpp"
#include "xl/layer.hpp"

namespace segue {

/// Runs layer number n over h [B, T, D] and its memory m [B, M, D]: by default layer(h, m, pass).
/// One that does something before, behind or instead of it records, recomputes or remembers.
using LayerRun = std::function<Variable(std::size_t n, const Layer& layer, const Variable& h,
                                        const Variable& m, const Pass& pass)>;

struct States {
  Variable h;     // [B, T, D]
  Memory memory;  // for the next segment
};

struct TransformerXL : LanguageModel {
  /// Random weights.
  TransformerXL(const Config& config, Random& random, Where where = Where::current());

  Output operator()(const Tokens& tokens, const Memory& memory, const Mode& mode,
                    Where where = Where::current()) const override;
  /// The last layer's states, each layer run by `run`.
  States states(const Tokens& tokens, const Memory& memory, const Mode& mode, const LayerRun& run,
                Where where = Where::current()) const;
  /// Predictions from states. [B, T, D] -> [B, T, V]
  Variable logits(const Variable& h, const Mode& mode) const;
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit) override;
  /// A model of its own with the same weights: what changes in one does not change in the other.
  TransformerXL clone() const;

  Embedding embedding;  // E, scaled by sqrt(D) when looked up
  Variable u, v;        // [H, Dh], shared by all layers
  std::vector<Layer> layers;
  Variable output_weight;  // [V, D]
  Variable output_bias;    // [V]
  LayerRun run_layer;      // of every forward pass

  TransformerXL(TransformerXL&&) = default;
  TransformerXL& operator=(TransformerXL&&) = default;

 protected:
  TransformerXL(const TransformerXL&) = default;
};

/// h through N layers, each of which reads its own memory, and the memory for the next segment.
States run_layers(
    Variable h, const Memory& memory, const Config& config,
    const std::function<Variable(std::size_t n, const Variable& h, const Variable& m)>& run);

}  // namespace segue
