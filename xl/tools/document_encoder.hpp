// A text of any length, read chunk by chunk into one state per token.
//
// The states are what the last layer of the model says of each token in the light of all that
// memory lets it see: a vector of D numbers to search, compare or classify by. Nothing that was
// read stays but the memory, so the second gigabyte needs no more room than the first.
#pragma once

#include "xl/tools/memory_cache.hpp"

namespace segue {

class DocumentEncoder {
 public:
  /// For `rows` documents side by side, with a memory of any length. Throws ValueError.
  DocumentEncoder(const TransformerXL& model, Index rows, Index memory_length,
                  Where where = Where::current());

  /// The states of the next tokens, [B, T] -> [B, T, D], each a continuation of what was read
  /// before. However the text is cut into chunks, the states are those of one long pass as long as
  /// memory covers it. A chunk is taken in segments of the model's training length, so its scores
  /// never fill more than [B, H, segment, memory + segment]. Throws ShapeError and RangeError like
  /// the model, and has then read nothing.
  Tensor read(const Tokens& tokens, Where where = Where::current());

 private:
  CachingTransformerXL model_;
  Memory memory_;
};

}  // namespace segue
