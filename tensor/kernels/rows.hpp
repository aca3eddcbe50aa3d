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

/// combine(get(0), .. get(n-1)), of a row in which all numbers from `given` on are the identity and
/// not looked at: sixteen interleaved running results (one or more whole vectors on every machine),
/// joined pairwise; rows longer than 1024 are halved first, which keeps the rounding error of long
/// sums small.
template <class Number, class Get, class Combine>
Number fold_start(Index n, Index given, Number identity, const Get& get, const Combine& combine,
                  Index first = 0) {
  constexpr Index lanes = 16;
  constexpr Index longest = 1024;
  if (n > longest) {
    const Index half = n / (2 * lanes) * lanes;
    const Number left =
        fold_start(half, given < half ? given : half, identity, get, combine, first);
    if (given <= half) return left;
    return combine(left, fold_start(n - half, given - half, identity, get, combine, first + half));
  }
  Number lane[lanes];
  for (Index l = 0; l < lanes; ++l) lane[l] = identity;
  Index i = 0;
  for (; i + lanes <= given; i += lanes) {
    for (Index l = 0; l < lanes; ++l) lane[l] = combine(lane[l], get(first + i + l));
  }
  for (Index l = 0; i + l < given; ++l) lane[l] = combine(lane[l], get(first + i + l));
  for (Index width = lanes / 2; width > 0; width /= 2) {
    for (Index l = 0; l < width; ++l) lane[l] = combine(lane[l], lane[l + width]);
  }
  return lane[0];
}

/// The same of a whole row of n.
template <class Number, class Get, class Combine>
Number fold_row(Index n, Number identity, const Get& get, const Combine& combine) {
  return fold_start(n, n, identity, get, combine);
}

}  // namespace segue
