// The relative shift: from scores by distance to scores by key (paper, appendix B).
//
// Row i of x holds the scores of query i against the distances K-1, K-2, .. 0. Key j lies at
// distance (M + i) - j, so
//
//   z[i, j] = x[i, j + (T - 1 - i)]                 for every visible key, j <= M + i
//
// Each row moves left, the first by T - 1, the last by 0. For T = 3, K = 5 (M = 2):
//
//   x:  4 3 2 1 0  (distance)        z:  2 1 0 . .
//       4 3 2 1 0                        3 2 1 0 .
//       4 3 2 1 0                        4 3 2 1 0
//
// What stands at the dots is left over from the trick below and must be masked before softmax.
#pragma once

#include "autograd/variable.hpp"

namespace segue {

/// The trick: with one column of zeros on the left, a row is one longer than it should be; read
/// again in rows of the old length, each row starts one element later than the one above. [.., T,
/// K] -> [.., T, K], T <= K. Throws ShapeError.
Variable relative_shift(const Variable& x, Where where = Where::current());

/// The index formula above, element by element, with zeros at the dots: what relative_shift is
/// compared with.
Tensor relative_shift_by_index(const Tensor& x, Where where = Where::current());

}  // namespace segue
