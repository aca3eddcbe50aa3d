// Folding a row of numbers into one, in an order that depends on its length alone: not on threads,
// not on the width of the machine's vectors. So a sum has the same bits everywhere.
#pragma once

#include "tensor/real.hpp"

namespace segue {

struct Plus {
  Real operator()(Real a, Real b) const { return a + b; }
};
/// The larger one, passing over a NaN on the right: vector code. Of use where a NaN shows in what
/// is computed next.
struct LargerNumber {
  Real operator()(Real a, Real b) const { return b > a ? b : a; }
};

/// combine(get(first), .. get(first+n-1)): sixteen interleaved running results (one or more whole
/// vectors on every machine), joined pairwise; rows longer than 1024 are halved first, which keeps
/// the rounding error of long sums small.
template <class Number, class Get, class Combine>
Number fold_row(Index n, Number identity, const Get& get, const Combine& combine, Index first = 0) {
  constexpr Index lanes = 16, longest = 1024;
  if (n > longest) {
    const Index half = n / (2 * lanes) * lanes;
    const Number left = fold_row(half, identity, get, combine, first);
    return combine(left, fold_row(n - half, identity, get, combine, first + half));
  }
  Number lane[lanes];
  for (Index l = 0; l < lanes; ++l) lane[l] = identity;
  Index i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (Index l = 0; l < lanes; ++l) lane[l] = combine(lane[l], get(first + i + l));
  }
  for (Index l = 0; i + l < n; ++l) lane[l] = combine(lane[l], get(first + i + l));
  for (Index width = lanes / 2; width > 0; width /= 2) {
    for (Index l = 0; l < width; ++l) lane[l] = combine(lane[l], lane[l + width]);
  }
  return lane[0];
}

}  // namespace segue
