// The position encoding: a row of sines and cosines for each distance (Vaswani et al. 2017,
// section 3.5; paper, section 3.3).
#pragma once

#include <vector>

#include "tensor/tensor.hpp"

namespace segue {

/// R: row c is [sin(k f_0) .. sin(k f_{D/2-1}), cos(k f_0) .. cos(k f_{D/2-1})] with k =
/// positions[c] and f_i = 10000^(-2i/D). Throws ValueError unless D is even and above 0.
Tensor sinusoids(const std::vector<Index>& positions, Index D, Where where = Where::current());

/// R for the distances K-1, K-2, .. 0 in this order, which relative_shift expects; with
/// clamp_length > 0 longer distances count as clamp_length. [K, D].
Tensor distance_sinusoids(Index K, Index clamp_length, Index D, Where where = Where::current());

}  // namespace segue
