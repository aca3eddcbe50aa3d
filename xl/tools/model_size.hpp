// How large a model is and what a step of its training costs, from its config alone: for models
// that are too large to be built just to be counted, and for those who ask how fast a step could
// be.
//
// A product is one multiply-add of a matrix product, 2 flops; softmax, layer norm and Adam do not
// count. A row that scores S pairs of a query and a key for each head multiplies, with D' = H Dh,
// in each layer
//
//   q, output      2 B T D D'     the segment only
//   k, values      2 B K D D'     memory and segment
//   r                K D D'       one for each distance, the same for all rows
//   scores         3 B S D'       (a) + (c), (b) + (d), and the weighted values
//   feed-forward   2 B T D F
//
// and B T D V more for the logits. A query needs the scores of the keys it sees and no others:
// query i sees M + i + 1 of the K keys, so a segment needs S = T M + T (T + 1) / 2. A plain
// implementation makes all S = T K.
#pragma once

#include "xl/config.hpp"

namespace segue {

/// The numbers that training changes in a Transformer-XL of this config. Throws ValueError for a
/// config that makes no sense, or has more of them than an Index can count.
Index parameter_count(const Config& config, Where where = Where::current());

/// Products that a forward pass cannot do without, on B rows of T tokens with a full memory of M;
/// what the config says of segment and memory does not matter. Throws ValueError for sizes that
/// make no sense.
double forward_products(const Config& config, Index B, Index T, Index M,
                        Where where = Where::current());

/// The same for the backward pass of a training step on B rows, with the config's T and a full
/// memory of its M: two for each product of forward, one for either factor, but for two that
/// nothing asks for. No gradient leaves for the states of the memory (2 B M D D', the
/// stop-gradient) nor for the sinusoids R (K D D'). Throws like forward_products.
double backward_products(const Config& config, Index B, Where where = Where::current());

/// Flops of one training step on `batch` rows of T tokens with a full memory of M as a plain
/// implementation does them: two for each product, with all T K scores, and three times those of
/// the forward pass. Throws ValueError for a config that makes no sense, or a batch below 1.
double training_flops(const Config& config, Index batch, Where where = Where::current());

}  // namespace segue
