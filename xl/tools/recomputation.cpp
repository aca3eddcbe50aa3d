#include "xl/tools/recomputation.hpp"

#include "autograd/tools/recompute.hpp"

namespace segue {

Variable recompute_layer(std::size_t, const Layer& layer, const Variable& h, const Variable& m,
                         const Pass& pass) {
  const auto run = [&layer, pass](const std::vector<Variable>& x) {
    return layer(x[0], x[1], pass);
  };
  return recompute(run, {h, m}, pass.mode.random());
}

}  // namespace segue
