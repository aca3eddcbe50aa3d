// A look into the memory, and how far back each layer sees through it.
#pragma once

#include <vector>

#include "xl/memory.hpp"

namespace segue {

/// Throws ShapeError unless every layer is [B, M, D], the same for all, with B rows in
/// `tokens_read`.
void check_shapes(const Memory& memory, Where where = Where::current());

/// What layer n remembers of one position of row b, [D]; position 0 is the oldest that is kept. A
/// view. Throws RangeError.
Tensor state_at(const Memory& memory, Index layer, Index row, Index position,
                Where where = Where::current());

/// How many tokens are behind a state at position i of a segment of T, itself included, once the
/// memory of M is full: element n for what layer n reads, and element N for the logits. A layer
/// reads as far as the start of the segment and M further back, and the state it finds there has
/// done the same one layer below. With T dividing M that is n M + i + 1, the paper's O(N L); with
/// same_length a layer sees M - 1 back from any position, hence n (M - 1) + 1. Throws ValueError
/// unless 0 <= i < T and M >= 0, and when M is so long that the count overflows.
std::vector<Index> tokens_in_reach(const Config& config, Index T, Index M, Index i,
                                   Where where = Where::current());

}  // namespace segue
