// Training a Transformer-XL in less memory: each layer keeps its input only and is computed again
// in backward.
#pragma once

#include "xl/model.hpp"

namespace segue {

/// For TransformerXL::run_layer. Predictions and gradients have the same bits as without it, with
/// dropout on as well; without the stop-gradient, where a state has users in two segments,
/// gradients may differ in the last bits. The model must live until backward.
Variable recompute_layer(std::size_t n, const Layer& layer, const Variable& h, const Variable& m,
                         const Pass& pass);

}  // namespace segue
