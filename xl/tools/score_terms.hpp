// The four terms of a score, one by one: what attention adds up in two products (paper,
// section 3.3).
//
//   A[i, j] / sqrt(Dh) = (a) q_i . k_j + (b) q_i . r_{i-j} + (c) u . k_j + (d) v . r_{i-j},  each
//   divided by sqrt(Dh)
//
// The softmax over the visible keys sees their sum, so a term is worth what it differs from key to
// key.
#pragma once

#include <vector>

#include "xl/model.hpp"

namespace segue {

/// Each [B, H, T, K], divided by sqrt(Dh). Hidden keys have terms as well, without meaning.
struct ScoreTerms {
  Tensor a;  // content against content
  Tensor b;  // content against position
  Tensor c;  // how much a key attracts any query
  Tensor d;  // how much a distance attracts any query
};

/// The terms with which `attention` scores: h and context are what it reads.
/// h [B, T, D], context [B, K, D] -> [B, H, T, K].
ScoreTerms score_terms(const RelativeAttention& attention, const Variable& h,
                       const Variable& context, const Pass& pass);

/// The terms of each layer for a segment, tokens [B, T], after `memory`, as the model computes them
/// in evaluation: N of them. For a TransformerXL, as attention_maps. Throws what the model throws
/// for tokens and memories that do not fit.
std::vector<ScoreTerms> score_terms(const TransformerXL& model, const Tokens& tokens,
                                    const Memory& memory, Where where = Where::current());

}  // namespace segue
