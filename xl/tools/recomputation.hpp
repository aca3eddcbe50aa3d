// A Transformer-XL that trains in less memory: each layer keeps its input only and is computed
// again in backward.
#pragma once

#include "xl/model.hpp"

namespace segue {

/// Predictions and gradients have the same bits as those of TransformerXL, with dropout on as well;
/// without the stop-gradient, where a state has users in two segments, gradients may differ in the
/// last bits. It must live until backward.
struct RecomputingTransformerXL : TransformerXL {
  using TransformerXL::TransformerXL;
  explicit RecomputingTransformerXL(const TransformerXL& model) : TransformerXL(model) {}

  Variable run_layer(std::size_t n, const Variable& h, const Variable& m,
                     const Positions& positions, const Mode& mode) const override;
};

}  // namespace segue
