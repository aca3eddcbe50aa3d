// Neighbouring axes become one wherever every tensor steps through them evenly.
#include "tensor/kernels/loops.hpp"

namespace segue {

Index Loops::row_offset(int tensor, Index row) const {
  Index offset = 0;
  for (int axis = shape.rank() - 2; axis >= 0; --axis) {
    offset += (row % shape[axis]) * strides[tensor][axis];
    row /= shape[axis];
  }
  return offset;
}

RowWalk::RowWalk(const Loops& l, Index row)
    : loops(l),
      index(l.shape),
      offsets{l.row_offset(0, row), l.row_offset(1, row), l.row_offset(2, row)} {
  for (int axis = loops.shape.rank() - 2; axis >= 0; --axis) {
    index[axis] = row % loops.shape[axis];
    row /= loops.shape[axis];
  }
}

void RowWalk::next() {
  for (int axis = loops.shape.rank() - 2; axis >= 0; --axis) {
    const bool carry = ++index[axis] == loops.shape[axis];
    const Index steps = carry ? 1 - loops.shape[axis] : 1;  // on, or back to the start of the axis
    for (int t = 0; t < 3; ++t) offsets[t] += steps * loops.strides[t][axis];
    if (!carry) return;
    index[axis] = 0;
  }
}

Loops merge_axes(const Shape& shape, const Strides& a, const Strides& b, const Strides& c) {
  const Strides* strides[3] = {&a, &b, &c};
  Loops loops;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1) continue;
    const int last = loops.shape.rank() - 1;
    bool joins = last >= 0;
    for (int t = 0; t < 3; ++t)
      joins = joins && loops.strides[t][last] == (*strides[t])[axis] * shape[axis];
    if (joins) {
      loops.shape[last] *= shape[axis];
      for (int t = 0; t < 3; ++t) loops.strides[t][last] = (*strides[t])[axis];
    } else {
      loops.shape.push_back(shape[axis]);
      for (int t = 0; t < 3; ++t) loops.strides[t].push_back((*strides[t])[axis]);
    }
  }
  if (loops.shape.rank() == 0) {
    loops.shape.push_back(1);
    for (Strides& s : loops.strides) s.push_back(1);
  }
  return loops;
}

}  // namespace segue
