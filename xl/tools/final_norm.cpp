#include "xl/tools/final_norm.hpp"

namespace segue {

FinalNormXL::FinalNormXL(const Config& c, Random& random, Where where)
    : TransformerXL(c, random, where), final_norm(c.width) {}

Variable FinalNormXL::run_layer(std::size_t n, const Variable& h, const Variable& m,
                                const Positions& positions, const Mode& mode) const {
  const Variable z = TransformerXL::run_layer(n, h, m, positions, mode);  // [B, T, D]
  return n + 1 == layers.size() ? final_norm(z) : z;
}

void FinalNormXL::visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
  TransformerXL::visit_parameters(prefix, visit);
  final_norm.visit_parameters(prefix + "final_norm.", visit);
}

}  // namespace segue
