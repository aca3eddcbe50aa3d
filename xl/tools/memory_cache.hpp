// Reading with a long memory: what the layers compute of it is kept from one segment to the next.
//
// A layer reads its memory by keys and values, and these do not change from segment to segment
// unless the weights do. In training they do; a model that only reads would project M states anew
// for the sake of T.
#pragma once

#include <memory>
#include <vector>

#include "xl/model.hpp"

namespace segue {

/// Numbers at one time: equal to a later stamp while the same tensor, unchanged, is meant.
struct Stamp {
  std::shared_ptr<Storage> storage;
  std::uint64_t version = 0;

  bool operator==(const Stamp&) const = default;
};
Stamp stamp_of(const Variable& x);

/// A TransformerXL that projects each state once, with its segment, and the distances once for each
/// K, with the bits of the model itself. For reading only: nothing is recorded for a backward. It
/// shares the parameters, and begins anew when they have changed. Segments must not be read by
/// several threads at a time.
struct CachingTransformerXL : TransformerXL {
  explicit CachingTransformerXL(const TransformerXL& model) : TransformerXL(model) {}

  /// Finds what is kept by the memory: it is used when `memory` is the one that came out last, as
  /// it came.
  Output operator()(const Tokens& tokens, const Memory& memory, const Mode& mode,
                    Where where = Where::current()) const override;
  Variable run_layer(std::size_t n, const Variable& h, const Variable& m,
                     const Positions& positions, const Mode& mode) const override;

 private:
  struct Kept {
    Stamp memory;   // that came out last
    Stamp weights;  // with which was projected
    Projections
        known;  // of memory and segment: its latest positions are those of the memory that came out
  };
  mutable std::vector<Kept> kept_;
};

/// The model to read a text with: a caching one that shares the parameters for a TransformerXL,
/// else `model` itself, which must then live on.
std::shared_ptr<const LanguageModel> reading_model(const LanguageModel& model);

}  // namespace segue
