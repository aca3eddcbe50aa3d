// One more layer norm between the last layer and the logits, as most models with pre-norm have it.
// Transformer-XL's authors left it out, and so does TransformerXL.
#pragma once

#include "xl/model.hpp"

namespace segue {

struct FinalNormXL : TransformerXL {
  FinalNormXL(const Config& c, Random& random, Where where = Where::current());

  Output operator()(const Tokens& tokens, const Memory& memory, const Mode& mode,
                    Where where = Where::current()) const override;
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit) override;

  LayerNorm final_norm;
};

}  // namespace segue
