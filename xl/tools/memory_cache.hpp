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

/// A tensor at one time: equal to a later stamp when that is a view of the same numbers, by the
/// same shape and strides, and nothing has been written there since.
struct Stamp {
  explicit Stamp(const Variable& x);
  bool operator==(const Stamp& other) const;

  Tensor value;
  std::uint64_t version;
};

/// Reads for a TransformerXL, with the bits of the model itself, but projects each state once, with
/// its segment, and the distances once for each K. For reading only: nothing is recorded for a
/// backward. What was kept is used when it is that of the memory handed in, of the weights and of
/// the settings that the model has now; else it is computed anew. The model must live on, and only
/// one thread may read at a time.
struct CachingTransformerXL : LanguageModel {
  explicit CachingTransformerXL(const TransformerXL& m) : LanguageModel(m.config), model(m) {}

  Output operator()(const Tokens& tokens, const Memory& memory, const Mode& mode,
                    Where where = Where::current()) const override;
  /// The last layer's states instead of predictions.
  States states(const Tokens& tokens, const Memory& memory, const Mode& mode,
                Where where = Where::current()) const;
  /// None: the parameters are the model's.
  void visit_parameters(const std::string&, const ParameterVisitor&) override {}

  const TransformerXL& model;

 private:
  struct Kept {
    std::vector<Stamp> from;  // the weights that projected, and the memory that came out
    Index clamp_length = 0;
    bool pre_norm = false;
    KeysValues context;  // of the memory that came out, and of positions before it
    Variable r;
  };
  Variable run_layer(std::size_t n, const Layer& layer, const Variable& h, const Variable& m,
                     const Pass& pass) const;

  mutable std::vector<Kept> kept_;
};

/// The model to read a text with: a caching one for a TransformerXL, else `model` itself. Either
/// way `model` must live on.
std::shared_ptr<const LanguageModel> reading_model(const LanguageModel& model);

}  // namespace segue
