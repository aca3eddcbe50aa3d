#include "xl/memory.hpp"

#include <algorithm>

#include "autograd/arithmetic.hpp"
#include "autograd/masking.hpp"
#include "autograd/shaping.hpp"
#include "autograd/stop_gradient.hpp"
#include "tensor/fail.hpp"

namespace segue {

Memory empty_memory(const Config& config, Index B, Index limit, Where where) {
  if (B < 1 || limit < 0)
    fail<ValueError>(where, "memory: {} rows of up to {} positions are not possible", B, limit);
  Memory memory;
  memory.layers.assign(static_cast<std::size_t>(config.layers),
                       Variable(Tensor::zeros({B, 0, config.width})));
  memory.limit = limit;
  memory.tokens_read.assign(static_cast<std::size_t>(B), 0);
  return memory;
}

Variable update_memory(const Variable& old, const Variable& hidden, Index limit, bool stop,
                       Where where) {
  const auto last = [&](const Variable& x, Index n) {
    return narrow(x, 1, x.dim(1) - n, n, where);
  };
  const Index from_hidden = std::min(limit, hidden.dim(1)),
              from_old = std::min(limit - from_hidden, old.dim(1));
  const Variable latest = concat({last(old, from_old), last(hidden, from_hidden)}, 1, where);
  return stop ? stop_gradient(latest, where) : latest;
}

Memory reset_rows(const Memory& memory, const std::vector<Index>& rows, Where where) {
  Memory fresh = memory;
  Tensor hidden = Tensor::zeros({memory.batch(), 1, 1});
  for (const Index row : rows) {
    if (row < 0 || row >= memory.batch())
      fail<RangeError>(where, "reset: row {} of {} rows", row, memory.batch());
    fresh.tokens_read[static_cast<std::size_t>(row)] = 0;
    hidden.set_in_place({row, 0, 0}, 1);
  }
  if (!rows.empty()) {
    const Shape none = {memory.batch(), 0, memory.layers[0].dim(2)};
    const bool empty = std::ranges::max(fresh.tokens_read) == 0;
    for (Variable& layer : fresh.layers) {
      layer = empty ? Variable(Tensor::zeros(none)) : masked_fill(layer, hidden, 0, where);
    }
  }
  return fresh;
}

}  // namespace segue
