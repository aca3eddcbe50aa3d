#include "xl/tools/memory_view.hpp"

#include <limits>

#include "tensor/fail.hpp"

namespace segue {

void check_shapes(const Memory& memory, Where where) {
  for (const Variable& layer : memory.layers) {
    const Shape& first = memory.layers[0].shape();
    if (layer.shape().rank() == 3 && layer.shape() == first && first[0] == memory.batch()) continue;
    fail<ShapeError>(where, "memory: a layer of shape {} beside one of {}, with {} rows",
                     layer.shape(), first, memory.batch());
  }
}

Tensor state_at(const Memory& memory, Index layer, Index row, Index position, Where where) {
  check_shapes(memory, where);
  const Index N = static_cast<Index>(memory.layers.size());
  if (layer < 0 || layer >= N || row < 0 || row >= memory.batch() || position < 0 ||
      position >= memory.length()) {
    fail<RangeError>(where,
                     "memory: layer {}, row {}, position {} of {} layers, {} rows, {} positions",
                     layer, row, position, N, memory.batch(), memory.length());
  }
  const Tensor& states = memory.layers[static_cast<std::size_t>(layer)].value();
  return states.narrow(0, row, 1).narrow(1, position, 1).reshape({-1});  // [D]
}

std::vector<Index> tokens_in_reach(const Config& config, Index T, Index M, Index i, Where where) {
  check(config, where);
  const Index most =
      std::numeric_limits<Index>::max() / (config.layers + 1);  // what can be counted
  if (i < 0 || i >= T || M < 0 || M > most - T) {
    fail<ValueError>(where, "reach: position {} in a segment of {} with a memory of {}", i, T, M);
  }
  if (config.same_length && M == 0)
    fail<ValueError>(where, "reach: same_length sees distances below M, which is 0");
  std::vector<Index> reach = {1};
  Index farthest =
      i;  // the earliest token behind the state so far; segments start at the multiples of T
  for (Index n = 0; n < config.layers; ++n) {
    const Index into_segment = (farthest % T + T) % T;
    farthest -= config.same_length ? M - 1 : into_segment + M;
    reach.push_back(i - farthest + 1);
  }
  return reach;
}

}  // namespace segue
