// How large a model is and what a step of its training costs, from its config alone: for models that are too large to
// be built just to be counted.
#pragma once

#include "xl/config.hpp"

namespace segue {

/// The numbers that training changes in a Transformer-XL of this config.
Index parameter_count(const Config& config);

/// Multiplications and additions of one training step on `batch` rows of T tokens with a full memory of M: two for each
/// product in a matrix multiplication (what is not one is left out), and three times those of the forward pass, since
/// backward multiplies each matrix twice.
double training_flops(const Config& config, Index batch);

}  // namespace segue
