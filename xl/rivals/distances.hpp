// Distances as columns, for schemes that keep a row for each: from keys to distances and back.
#pragma once

#include "autograd/variable.hpp"
#include "tensor/tokens.hpp"

namespace segue {

/// The row of a table for each of the distances K-1, K-2, .. 0, the order relative_shift expects;
/// distances beyond the table take its last row. [K]
Tokens clipped_distances(Index K, Index rows);

/// The relative shift undone, for weights that are 0 wherever a key lies behind its query: column c
/// of row i holds the weight of the key at distance K-1-c, and 0 where there is no such key. With T
/// = 3 and K = 5:
///
///   x:  2 1 0 . .  (distance of each key)      z:  . . 2 1 0
///       3 2 1 0 .                                  . 3 2 1 0
///       4 3 2 1 0                                  4 3 2 1 0
///
/// The trick is the shift's, backwards: T zeros in front, the numbers read again in rows one
/// longer, and the first column dropped. The weights of 0 at the dots end up on the left. [B, H, T,
/// K] -> [B, H, T, K], T <= K.
Variable weights_by_distance(const Variable& x, Where where = Where::current());

}  // namespace segue
