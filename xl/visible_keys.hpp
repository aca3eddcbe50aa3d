// Which keys a query may look at: a rule about indices, which the mask of attention is drawn from.
#pragma once

#include <vector>

#include "xl/memory.hpp"

namespace segue {

/// Query i of row b sees the keys first_key(b, i) .. last_key(i) and no others.
struct VisibleKeys {
  Index T = 0;       // queries
  Index M = 0;       // keys of the memory, in front of those of the segment
  Index window = 0;  // a query sees distances below it; 0: any distance
  std::vector<Index>
      start;  // of each row: its first key after a reset; one for all when they agree

  /// How many rows differ: B, or 1.
  Index rows() const { return static_cast<Index>(start.size()); }
  /// A query at distance (M + i) - j from key j sees no key of another text and none beyond the
  /// window.
  Index first_key(Index b, Index i) const {
    const Index text = start[rows() == 1 ? 0 : static_cast<std::size_t>(b)];
    return window == 0 ? text : std::max(text, M + i - window + 1);
  }
  /// Its own: distance 0. The keys behind it are its future.
  Index last_key(Index i) const { return M + i; }
};

/// For T queries behind `memory`: a row that was reset has only its latest positions in view.
VisibleKeys visible_keys(Index T, const Memory& memory, Index window);

/// The same rule as a tensor: [B or 1, 1, T, K], 1 where key j is hidden from query i, else 0.
Tensor attention_mask(const VisibleKeys& visible);

}  // namespace segue
