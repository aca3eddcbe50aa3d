#include "xl/tools/final_norm.hpp"

namespace segue {

FinalNormXL::FinalNormXL(const Config& c, Random& random, Where where)
    : TransformerXL(c, random, where), final_norm(c.width) {}

Output FinalNormXL::operator()(const Tokens& tokens, const Memory& memory, const Mode& mode,
                               Where where) const {
  const auto [h, next] = states(tokens, memory, mode, run_layer, where);
  return {logits(final_norm(h), mode), next};
}

void FinalNormXL::visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
  TransformerXL::visit_parameters(prefix, visit);
  final_norm.visit_parameters(prefix + "final_norm.", visit);
}

}  // namespace segue
