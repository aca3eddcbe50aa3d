#include "xl/tools/recomputation.hpp"

#include "autograd/tools/recompute.hpp"

namespace segue {

Variable RecomputingTransformerXL::run_layer(std::size_t n, const Variable& h, const Variable& m,
                                             const Positions& positions, const Mode& mode) const {
  const auto layer = [this, n, positions, mode](const std::vector<Variable>& x) {
    return TransformerXL::run_layer(n, x[0], x[1], positions, mode);
  };
  return recompute(layer, {h, m}, mode.random());
}

}  // namespace segue
