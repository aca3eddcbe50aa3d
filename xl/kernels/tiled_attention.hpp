// Attention in tiles: what xl/attention.cpp computes in single ops, without ever holding the
// scores.
#pragma once

#include "xl/attention.hpp"

namespace segue {

/// attend() in one op, for a pass that drops no weights: q [B, T, H Dh], keys and values [B, K, H
/// Dh], r [K, H Dh] -> [B, T, H Dh]. In the portable build value and gradients have the bits of the
/// single ops. The shapes are those that attend() has checked.
Variable attend_in_tiles(const Variable& q, const KeysValues& context, const Variable& r,
                         const Pass& pass);

}  // namespace segue
