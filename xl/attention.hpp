// Attention with relative positions (paper, section 3.3).
//
// Query i, at distance M + i - j from key j, scores it by four terms:
//
//   A[i, j] =  q_i . k_j        (a) content against content
//            + q_i . r_{i-j}    (b) content against position
//            + u   . k_j        (c) how much key j attracts any query
//            + v   . r_{i-j}    (d) how much that distance attracts any query
//
//   q = h W_q    k = [m ; h] W_k,E    r = R W_k,R    v-values = [m ; h] W_v
//
// (a) and (c) together are (q + u) k^T, (b) and (d) together (q + v) r^T, brought to the keys by
// the relative shift.
#pragma once

#include <vector>

#include "nn/dropout.hpp"
#include "nn/parameters.hpp"
#include "tensor/random.hpp"
#include "xl/config.hpp"
#include "xl/memory.hpp"

namespace segue {

/// What all layers share in one forward pass.
struct Positions {
  Variable R;     // [K, D] sinusoids of the distances K-1 .. 0
  Variable u;     // [H, Dh] content bias
  Variable v;     // [H, Dh] position bias
  Tensor hidden;  // [B or 1, 1, T, K] 1 where query i must not see key j
};

/// What attention reads: keys and values of the memory, behind which it sets those of the segment.
struct Projections {
  Variable k, values;  // x W_k,E and x W_v: [B, M, H Dh], with the segment [B, K, H Dh]
  Variable r;          // R W_k,R: [K, H Dh]
};

struct RelativeAttention {
  RelativeAttention(const Config& config, Random& random);
  /// m: the memory [B, M, D].
  Projections project(const Variable& m, const Variable& R) const;
  /// h: the current segment [B, T, D], `known`: what comes of the memory, to which that of h is
  /// added -> [B, T, D].
  Variable operator()(const Variable& h, Projections& known, const Positions& positions,
                      const Mode& mode) const;
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit);

  Index heads;
  Real dropout;
  Variable w_q;    // [D, H Dh]
  Variable w_k_E;  // [D, H Dh] keys by content
  Variable w_k_R;  // [D, H Dh] keys by distance
  Variable w_v;    // [D, H Dh]
  Variable w_o;    // [H Dh, D]
};

/// The weights of queries q [B, T, H Dh] over keys k [B, K, H Dh], with those by distance r [K, H
/// Dh]: softmax of the four terms' sum over sqrt(Dh), [B, H, T, K].
Variable attention_weights(const Variable& q, const Variable& k, const Variable& r,
                           const Positions& positions);

/// The values [B, K, H Dh] that these weights read, [B, T, H Dh], without ever holding the weights:
/// in one op, which a test holds to matmul(attention_weights(..), values).
Variable attend(const Variable& q, const Variable& k, const Variable& values, const Variable& r,
                const Positions& positions);

/// [.., L, H Dh] -> [.., H, L, Dh], a view; and back, [B, H, T, Dh] -> [B, T, H Dh].
Variable split_heads(const Variable& x, Index H);
Variable join_heads(const Variable& x);

/// [1 or B, 1, T, K], 1 where key j is hidden from query i: where the distance (M + i) - j is below
/// 0, or `window` or more (0: no window), or where j lies in a row's memory before its last
/// `visible(b)` positions.
Tensor attention_mask(Index T, const Memory& memory, Index window);

}  // namespace segue
