// The model of xl/model.hpp with another position encoding, all else being equal.
#pragma once

#include <memory>
#include <vector>

#include "nn/embedding.hpp"
#include "xl/language_model.hpp"
#include "xl/rivals/layer.hpp"

namespace segue {

struct RivalTransformer : LanguageModel {
  /// Random weights; with Scheme::transformer_xl those of TransformerXL under the same names.
  /// Throws ValueError.
  RivalTransformer(const Config& config, const Encoding& encoding, Random& random,
                   Where where = Where::current());

  /// Beside the errors of TransformerXL: RangeError for a position beyond a learned table that does
  /// not clamp.
  Output operator()(const Tokens& tokens, const Memory& memory, const Mode& mode,
                    Where where = Where::current()) const override;
  /// What the first layer reads: embeddings, scaled by sqrt(D), with the absolute code where there
  /// is one. [B, T] -> [B, T, D]
  Variable embed(const Tokens& tokens, const Memory& memory, Where where = Where::current()) const;
  /// What the layers share in a pass of T tokens. Only Transformer-XL's scheme has R, u and v.
  Pass pass(Index T, const Memory& memory, const Mode& mode) const;
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit) override;

  Encoding encoding;
  Embedding embedding;
  Variable u, v;  // [H, Dh], of transformer_xl
  std::vector<RivalLayer> layers;
  Variable output_weight;   // [V, D]; the embedding when tied
  Variable output_bias;     // [V]
  Variable position_table;  // [rows, D], of learned_absolute; scaled by sqrt(D) as embeddings are
};

/// The plain TransformerXL for Transformer-XL's encoding with all its terms and no more, else a
/// RivalTransformer.
std::unique_ptr<LanguageModel> make_model(const Config& config, const Encoding& encoding,
                                          Random& random, Where where = Where::current());

}  // namespace segue
