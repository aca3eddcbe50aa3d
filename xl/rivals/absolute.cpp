#include "xl/rivals/absolute.hpp"

#include <algorithm>

#include "autograd/shaping.hpp"
#include "tensor/fail.hpp"
#include "xl/sinusoids.hpp"

namespace segue {

Tokens restarting_positions(const Memory& memory, Index T) {
  Tokens positions({memory.batch(), T});
  for (Index b = 0; b < memory.batch(); ++b) {
    for (Index i = 0; i < T; ++i) positions[b * T + i] = i;
  }
  return positions;
}

Tokens running_positions(const Memory& memory, Index T) {
  Tokens positions = restarting_positions(memory, T);
  for (Index b = 0; b < memory.batch(); ++b) {
    for (Index i = 0; i < T; ++i)
      positions[b * T + i] += memory.tokens_read[static_cast<std::size_t>(b)];
  }
  return positions;
}

Variable sinusoid_codes(const Tokens& positions, Index D) {
  Shape shape = positions.shape;
  shape.push_back(D);
  return Variable(sinusoids(positions.ids, D).reshape(shape), "positions");
}

Variable table_codes(const Variable& table, const Tokens& positions, bool clamp, Where where) {
  const Index rows = table.dim(0);
  Tokens picked = positions;
  for (Index& position : picked.ids) {
    if (position >= rows && !clamp) {
      fail<RangeError>(where,
                       "learned positions: position {} is beyond the table's rows 0 .. {}; reset "
                       "the row, or clamp",
                       position, rows - 1);
    }
    position = std::min(position, rows - 1);
  }
  return gather(table, picked, 0, where);
}

}  // namespace segue
