// The memory: the hidden states of earlier segments, kept for the next one to read (paper,
// section 3.2).
#pragma once

#include <algorithm>
#include <vector>

#include "autograd/variable.hpp"
#include "xl/config.hpp"

namespace segue {

/// What the layers remember. It is passed into a forward pass and comes out anew; no model holds
/// one.
struct Memory {
  std::vector<Variable>
      layers;       // N states [B, M, D]: what each layer reads. Empty at first: [B, 0, D]
  Index limit = 0;  // the most positions that are kept
  std::vector<Index>
      tokens_read;  // for each row, since it began; positions further back are of another text

  Index batch() const { return static_cast<Index>(tokens_read.size()); }
  /// M: the positions held now, at most `limit`.
  Index length() const { return layers.empty() ? 0 : layers[0].dim(1); }
  /// How many of the latest positions row b may see; fewer than M after a reset.
  Index visible(Index b) const {
    return std::min(tokens_read[static_cast<std::size_t>(b)], length());
  }
};

/// An empty memory for B rows that will keep up to `limit` positions. Throws ValueError unless B >=
/// 1 and limit >= 0.
Memory empty_memory(const Config& config, Index B, Index limit, Where where = Where::current());

/// The last `limit` positions of [old ; hidden], and here, in the one place where a segment hands
/// on to the next, the gradient ends (the paper's SG). [B, M, D] and [B, T, D] -> [B, min(limit, M
/// + T), D]. Without `stop` it runs on.
Variable update_memory(const Variable& old, const Variable& hidden, Index limit, bool stop = true,
                       Where where = Where::current());

/// The memory with everything in the named rows hidden and set to zero: those rows begin anew. When
/// all do, it is empty, and nothing of what was before stays alive. Throws RangeError.
Memory reset_rows(const Memory& memory, const std::vector<Index>& rows,
                  Where where = Where::current());

}  // namespace segue
