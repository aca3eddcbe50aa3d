// What training, evaluation and generation know of a model: segments in, predictions out, memory
// handed on.
#pragma once

#include "nn/dropout.hpp"
#include "nn/parameters.hpp"
#include "tensor/tokens.hpp"
#include "xl/memory.hpp"

namespace segue {

struct Output {
  Variable logits;  // [B, T, V]
  Memory memory;    // for the next segment
};

struct LanguageModel {
  /// Throws ValueError for a config that makes no sense.
  explicit LanguageModel(const Config& c, Where where = Where::current()) : config(c) {
    check(config, where);
  }
  virtual ~LanguageModel() = default;

  /// One segment: tokens [B, T] after what `memory` remembers. A pure function: the new memory
  /// comes back beside the logits. Throws ShapeError for tokens that do not fit the memory,
  /// RangeError for a token outside 0 .. V-1.
  virtual Output operator()(const Tokens& tokens, const Memory& memory, const Mode& mode,
                            Where where = Where::current()) const = 0;
  /// Calls visit for each parameter; a tied output weight is the embedding and not named again.
  virtual void visit_parameters(const std::string& prefix, const ParameterVisitor& visit) = 0;

  /// The only copy: a change to what is no size (dropout, norms, window, clamping) holds from the
  /// next segment on.
  Config config;

  /// A model is moved, or copied by name, as TransformerXL::clone does: a copy that shares its
  /// parameters would change with the original.
  LanguageModel(LanguageModel&&) = default;
  LanguageModel& operator=(LanguageModel&&) = default;

 protected:
  LanguageModel(const LanguageModel&) = default;
};

/// Throws ShapeError unless `tokens` are [B, T] for the B rows and N layers of the memory, each of
/// the same [B, M, D], and ValueError for same_length with a memory of limit 0.
void check_segment(const Config& config, const Tokens& tokens, const Memory& memory, Where where);

}  // namespace segue
