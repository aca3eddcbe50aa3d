// How much a window keeps: the share of a decaying attention that falls on what a model sees.
//
// A query that sees everything before it spreads a mass of 1 over the distances d = 0, 1, 2, ..
// without end. A model that sees only the n nearest keys keeps what lies at the distances 0 .. n
// - 1. The text is read in segments of T behind a memory of M, so position i of a segment sees n =
// M + i + 1 keys.
#pragma once

#include <vector>

#include "tensor/error.hpp"
#include "tensor/real.hpp"

namespace segue {

enum class Decline {
  exponential,  // the mass beyond n keys is 2^(-n / h): every h tokens halve it
  power         // the mass beyond n keys is h / (h + n): a long tail
};

/// Attention that declines with distance; half of its mass lies within h = `half_distance` tokens,
/// the query's own included.
struct Decay {
  Decline decline;
  double half_distance;

  /// The mass at distance d: beyond(d) - beyond(d + 1), written so that nothing cancels.
  double at(Index d) const;
  /// The mass at the distances n, n + 1, and so on.
  double beyond(Index n) const;
};

/// How a text is read: in segments of T tokens, of which each sees the M tokens before it.
struct Segmentation {
  Index segment_length, memory_length;

  /// How many keys the query at position t of the text sees; position 0 is the first of a segment,
  /// and the memory is full.
  Index keys(Index t) const { return memory_length + t % segment_length + 1; }
};

/// Segments of W that see nothing but themselves.
Segmentation cut_segments(Index W);
/// W keys for every query, as a window that moves on token by token shows them: segments of one
/// token, a memory of W - 1.
Segmentation sliding_window(Index W);

/// The share that each of the first positions of a text keeps, its weights added up key by key.
/// Throws ValueError unless T >= 1, M >= 0, positions >= 1 (all up to 2^24) and the half distance
/// is a finite number above 0.
std::vector<double> retention_by_position(const Decay& decay, const Segmentation& segmentation,
                                          Index positions, Where where = Where::current());

/// The mean over the positions of retention_by_position.
double summed_retention(const Decay& decay, const Segmentation& segmentation, Index positions,
                        Where where = Where::current());

/// The same mean in closed form: a geometric series for the exponential, a difference of two
/// digammas for the power.
double closed_retention(const Decay& decay, const Segmentation& segmentation, Index positions,
                        Where where = Where::current());

}  // namespace segue
