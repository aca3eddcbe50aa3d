// How large a model is and what a step of its training costs, from its config alone: for models that are too large to
// be built just to be counted.
#pragma once

#include "xl/config.hpp"

namespace segue {

/// The numbers that training changes in a Transformer-XL of this config. Throws ValueError for a config that makes no
/// sense, or has more of them than an Index can count.
Index parameter_count(const Config& config, Where where = Where::current());

/// Multiplications and additions of one training step on `batch` rows of T tokens with a full memory of M: two for each
/// product in a matrix multiplication (what is not one is left out), and three times those of the forward pass, since
/// backward multiplies each matrix twice. Throws ValueError for a config that makes no sense, or a batch below 1.
double training_flops(const Config& config, Index batch, Where where = Where::current());

}  // namespace segue
