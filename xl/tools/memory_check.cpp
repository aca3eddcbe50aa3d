#include "xl/tools/memory_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/arithmetic.hpp"
#include "tensor/fail.hpp"
#include "xl/tools/memory_view.hpp"

namespace segue {
namespace {

// The first NaN among D numbers, or else the first of largest magnitude.
Index worst_component(const Real* x, Index D) {
  Index worst = 0;
  for (Index d = 0; d < D; ++d) {
    if (std::isnan(x[d])) return d;
    if (std::abs(x[d]) > std::abs(x[worst])) worst = d;
  }
  return worst;
}

// What brings the norm of a state down to the limit; 1 where it is not above by more than rounding,
// or has no norm.
double factor_to_limit(const Real* x, Index D, double limit) {
  const double largest = std::abs(static_cast<double>(x[worst_component(x, D)]));
  if (largest == 0 || !std::isfinite(largest)) return 1;
  double squares = 0;  // of shares of the largest, so that none overflows
  for (Index d = 0; d < D; ++d) {
    const double share = static_cast<double>(x[d]) / largest;
    squares += share * share;
  }
  const double factor = limit / largest / std::sqrt(squares);
  return factor < 1 - 4 * static_cast<double>(std::numeric_limits<Real>::epsilon()) ? factor : 1;
}

}  // namespace

std::vector<MemoryFinding> check_memory(const Memory& memory, Real limit, Where where) {
  if (!(limit >= 0))
    fail<ValueError>(where, "memory check: the limit {} is not a number from 0 on", limit);
  check_shapes(memory, where);
  std::vector<MemoryFinding> findings;
  for (std::size_t n = 0; n < memory.layers.size(); ++n) {
    const Tensor states = memory.layers[n].value().contiguous();  // [B, M, D]
    const Index M = memory.length(), D = states.dim(-1);
    const Real* x = states.data();
    for (Index state = 0; D > 0 && state < memory.batch() * M; ++state, x += D) {
      const Index d = worst_component(x, D);
      if (std::isfinite(x[d]) && std::abs(x[d]) <= limit) continue;
      findings.push_back({static_cast<Index>(n), state / M, state % M, d, x[d]});
    }
  }
  return findings;
}

std::string to_string(const MemoryFinding& f) {
  return fmt::format("layer {}, row {}, position {}: component {} is {:.6g}", f.layer, f.row,
                     f.position, f.component, f.value);
}

std::string to_text(const std::vector<MemoryFinding>& findings, std::size_t most) {
  if (findings.empty()) return "nothing found\n";
  std::string text;
  for (std::size_t k = 0; k < std::min(most, findings.size()); ++k)
    text += to_string(findings[k]) + "\n";
  if (findings.size() > most) text += fmt::format("and {} more\n", findings.size() - most);
  return text;
}

Memory stabilise(const Memory& memory, Real largest_norm, Where where) {
  if (!(largest_norm > 0))
    fail<ValueError>(where, "stabilise: the largest norm {} is not above 0", largest_norm);
  check_shapes(memory, where);
  Memory stable = memory;
  for (Variable& layer : stable.layers) {
    const Tensor states = layer.value().contiguous();  // [B, M, D]
    const Index B = memory.batch(), M = memory.length(), D = states.dim(-1);
    Tensor factors = Tensor::full({B, M, 1}, 1);
    Real* factor = factors.data_in_place();
    bool any = false;
    for (Index state = 0; D > 0 && state < B * M; ++state) {
      factor[state] = static_cast<Real>(
          factor_to_limit(states.data() + state * D, D, static_cast<double>(largest_norm)));
      any = any || factor[state] != 1;
    }
    if (any) layer = mul(layer, Variable(factors), where);  // a product with 1 keeps every bit
  }
  return stable;
}

}  // namespace segue
