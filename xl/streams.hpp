// A long text as B parallel streams in segments of T tokens: row b of a batch continues row b of
// the one before.
#pragma once

#include <vector>

#include "tensor/tokens.hpp"

namespace segue {

struct Batch {
  Tokens inputs;              // [B, T]
  Tokens targets;             // [B, T], each the token after its input
  std::vector<Index> resets;  // rows whose text begins anew: their memory must be reset first
};

/// What happens to the tokens behind the last whole segment: training drops them, evaluation keeps
/// them in a shorter last segment, with rows that run out filled up by ignored targets.
enum class Tail { drop, keep };

class Streams {
 public:
  /// Cuts `text` into B stretches of equal length. Throws ValueError, naming both lengths, for a
  /// text too short for one batch: of one segment (drop), or of one target (keep). Throws
  /// RangeError for a token below 0.
  Streams(std::vector<Index> text, Index B, Index T, Tail tail, Where where = Where::current());

  /// The next segment of every stream; after the last one, the first again with all rows reset.
  Batch next();
  /// How many batches the text gives.
  Index segments() const { return segments_; }
  /// The number of the batch that comes next, 0 .. segments-1.
  Index position() const { return position_; }
  void seek(Index position, Where where = Where::current());

 private:
  std::vector<Index> text_;
  Index B_, T_, row_length_, segments_, position_ = 0;
};

}  // namespace segue
