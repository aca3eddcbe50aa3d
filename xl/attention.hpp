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

#include "nn/dropout.hpp"
#include "nn/parameters.hpp"
#include "tensor/random.hpp"
#include "xl/config.hpp"
#include "xl/visible_keys.hpp"

namespace segue {

/// What all layers share in one forward pass.
struct Pass {
  const Config& config;
  Mode mode;
  Variable R;           // [K, D] sinusoids of the distances K-1 .. 0
  Variable u;           // [H, Dh] content bias
  Variable v;           // [H, Dh] position bias
  VisibleKeys visible;  // which key j query i may see
};

/// Keys and values of some rows: x W_k,E and x W_v, both [B, L, H Dh].
struct KeysValues {
  Variable k, values;
};

/// Those of `earlier` rows in front of those of `later` ones: as projecting [earlier ; later] at
/// once.
KeysValues join(const KeysValues& earlier, const KeysValues& later);

struct RelativeAttention {
  RelativeAttention(const Config& config, Random& random);
  /// Keys and values of any rows, of a memory or of a segment. [B, L, D] -> [B, L, H Dh]
  KeysValues project(const Variable& x) const;
  /// Keys by distance, r = R W_k,R. [K, D] -> [K, H Dh]
  Variable project_distances(const Variable& R) const;
  /// h: the segment [B, T, D]; `context`: keys and values of memory and segment; r: keys by
  /// distance
  /// -> [B, T, D]
  Variable operator()(const Variable& h, const KeysValues& context, const Variable& r,
                      const Pass& pass) const;
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit);

  Variable w_q;    // [D, H Dh]
  Variable w_k_E;  // [D, H Dh] keys by content
  Variable w_k_R;  // [D, H Dh] keys by distance
  Variable w_v;    // [D, H Dh]
  Variable w_o;    // [H Dh, D]
};

/// What queries q [B, T, H Dh] read from `context` [B, K, H Dh], given keys by distance r [K, H
/// Dh]: the values weighted by attention_weights, [B, T, H Dh]. In single ops, or in tiles when ops
/// run fast and no weight is dropped. Throws ShapeError.
Variable attend(const Variable& q, const KeysValues& context, const Variable& r, const Pass& pass);

/// The weights of the queries over the keys k [B, K, H Dh]: softmax over the visible keys of the
/// four terms' sum divided by sqrt(Dh), [B, H, T, K].
Variable attention_weights(const Variable& q, const Variable& k, const Variable& r,
                           const Pass& pass);

/// sum_j w_ij values_j, where a key of weight 0 contributes nothing, whatever its value holds.
/// [B, H, T, K] and [B, H, K, Dh] -> [B, H, T, Dh]
Variable weighted_sum(const Variable& w, const Variable& values, Where where = Where::current());

/// [.., L, H Dh] -> [.., H, L, Dh], a view; and back, [B, H, T, Dh] -> [B, T, H Dh].
Variable split_heads(const Variable& x, Index H);
Variable join_heads(const Variable& x);

}  // namespace segue
