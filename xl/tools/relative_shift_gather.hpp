// The relative shift as a look-up: the index formula again, with all its indices written down
// beforehand.
#pragma once

#include "autograd/variable.hpp"
#include "tensor/tokens.hpp"

namespace segue {

/// Where z[i, j] stands in x, for scores x [T, K] counted row by row: i K + j + (T - 1 - i), [T K].
/// Keys after the query, which have no distance, get the last score of the same row, that of
/// distance 0. Throws ShapeError unless T <= K.
Tokens relative_shift_indices(Index T, Index K, Where where = Where::current());

/// relative_shift on every visible key, one look-up for each element; what it leaves at hidden keys
/// must be masked, too. `indices` are those of relative_shift_indices for the last two axes. [..,
/// T, K] -> [.., T, K]. Throws ShapeError.
Variable relative_shift_by_gather(const Variable& x, const Tokens& indices,
                                  Where where = Where::current());

}  // namespace segue
