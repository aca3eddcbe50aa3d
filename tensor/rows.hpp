// Folding a row of numbers into one, or many rows into one, in an order that depends on their number alone: not on
// threads, not on the width of the machine's vectors. So a sum has the same bits everywhere.
#pragma once

#include <algorithm>

#include "tensor/map.hpp"

namespace segue {

struct Plus {
  Real operator()(Real a, Real b) const { return a + b; }
};
/// The larger one, passing over a NaN on the right: vector code. Of use where a NaN shows in what is computed next.
struct LargerNumber {
  Real operator()(Real a, Real b) const { return b > a ? b : a; }
};

/// combine(get(first), .. get(first+n-1)): sixteen interleaved running results (one or more whole vectors
/// on every machine), joined pairwise; rows longer than 1024 are halved first, which keeps the rounding error of long
/// sums small.
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

/// A new tensor [n] of z[k] = get(0, k) + get(1, k) + .. over all rows. `get` is called once for each element. Every
/// 256 rows are summed on their own first, which keeps the rounding error of long sums small.
template <class Get>
Tensor sum_rows(Index rows, Index n, const Get& get) {
  constexpr Index block = 256, strip = 1024;  // rows, and columns whose sums stay in the nearest cache
  Tensor z = Tensor::zeros({n});
  Real* const out = z.data_in_place();
  parallel_for(n, elements_per_thread / std::max<Index>(rows, 1) + 1, [&](Index begin, Index end) {
    for (Index left = begin; left < end; left += strip) {
      const Index columns = std::min(strip, end - left);
      for (Index top = 0; top < rows; top += block) {
        Real sums[strip];
        std::fill_n(sums, columns, Real(0));
        for (Index row = top; row < std::min(rows, top + block); ++row) {
          for (Index k = 0; k < columns; ++k) sums[k] += get(row, left + k);
        }
        for (Index k = 0; k < columns; ++k) out[left + k] += sums[k];
      }
    }
  });
  return z;
}

}  // namespace segue
