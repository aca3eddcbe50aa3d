// The multiplications that a Transformer-XL cannot do without, counted from its config: what the benchmark calls its
// work. Each is one multiply-add, 2 flops. Only products of matrices count, neither softmax nor layer norm nor Adam.
//
// A query needs the scores of the keys it sees and no others: query i sees M + i + 1 of the K keys, so the segment has
//
//   S = T M + T (T + 1) / 2  pairs of a query and a key, for each row and head.
//
// With D' = H Dh a layer multiplies in its forward pass
//
//   q, output      2 B T D D'     the segment only
//   k, values      2 B K D D'     memory and segment
//   r                K D D'       one for each distance, the same for all rows
//   scores         3 B S D'       (a) + (c), (b) + (d), and the weighted values
//   feed-forward   2 B T D F
//
// and the logits are B T D V more. Backward has two products for each of these, one for either factor, but for two
// that nothing asks for: no gradient leaves for the states of the memory (2 B M D D', the stop-gradient) nor for the
// sinusoids R (K D D'). Nothing is counted that a fast path computes a second time.
//
// (training_flops of xl/tools counts what a plain implementation does: all T K scores and twice the forward pass.)
#pragma once

#include "xl/config.hpp"

namespace segue {

/// Multiply-adds of a forward pass: B rows of T tokens with a full memory of M.
double forward_products(const Config& config, Index B, Index T, Index M);
/// Of the backward pass of a training step on B rows, with the config's T and a full memory of its M.
double backward_products(const Config& config, Index B);

}  // namespace segue
