// Attention maps: where each query of a segment looks, in the memory and in the segment itself.
//
// The core keeps no weights; they are computed once more here (paper, section 3.3). The columns
// 0 .. M-1 of a map are the memory, M .. K-1 the segment, so that the boundary between the two lies
// before column M, and the keys at one distance d lie on a diagonal, j = (M + i) - d.
#pragma once

#include <functional>
#include <vector>

#include "xl/model.hpp"

namespace segue {

/// What one layer's attention reads: its segment h [B, T, D] and rows = [m ; h], [B, K, D], behind
/// the norm in pre-norm.
using AttentionUse = std::function<void(const RelativeAttention& attention, const Variable& h,
                                        const Variable& rows, const Pass& pass)>;

/// Runs a segment in evaluation and calls use() for each layer. Throws what the model throws for
/// tokens and memories that do not fit.
void for_each_attention(const TransformerXL& model, const Tokens& tokens, const Memory& memory,
                        const AttentionUse& use, Where where = Where::current());

/// The map of each layer for a segment, tokens [B, T], after `memory`, as the model computes it in
/// evaluation: N of them, [B, H, T, K]. For a TransformerXL, recomputing or not; the rivals score
/// by other terms and are not taken. Throws what the model throws for tokens and memories that do
/// not fit.
std::vector<Tensor> attention_maps(const TransformerXL& model, const Tokens& tokens,
                                   const Memory& memory, Where where = Where::current());

/// The mean over the rows of a batch of what one head does, [B, H, T, K] -> [T, K]. Throws
/// ShapeError, RangeError.
Tensor head_map(const Tensor& map, Index head, Where where = Where::current());

/// How much of its weight a query puts on the key at `distance`: the mean over the queries of a
/// head's map [T, K] that have such a key. 0 when none has. Throws ShapeError, and ValueError for a
/// distance below 0.
double weight_at_distance(const Tensor& head_map, Index distance, Where where = Where::current());

/// The head that puts the most weight on one distance, over all layers.
struct HeadAtDistance {
  Index layer = 0, head = 0;
  double weight = -1;  // below 0 when there was no head
};
HeadAtDistance strongest_head(const std::vector<Tensor>& maps, Index distance,
                              Where where = Where::current());

}  // namespace segue
