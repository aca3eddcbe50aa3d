#include "tensor/map.hpp"

#include "tensor/fail.hpp"

namespace segue {

Index offset_of_element(const Tensor& x, Index i) {
  if (x.is_contiguous()) return i;
  Index offset = 0;
  for (int axis = x.rank() - 1; axis >= 0; --axis) {
    offset += i % x.shape()[axis] * x.strides()[axis];
    i /= x.shape()[axis];
  }
  return offset;
}

Tensor source_for_writing(const Tensor& x, const Tensor& y, Where where) {
  if (x.lies_like(y) && x.storage() != y.storage()) return y;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (x.size() > 0 && x.strides()[axis] == 0 && x.shape()[axis] > 1) {
      fail<ValueError>(where, "cannot write in place into a broadcast view of shape {}", x.shape());
    }
  }
  const bool same_elements =
      x.offset() == y.offset() && x.shape() == y.shape() && x.strides() == y.strides();
  const bool overlaps = x.storage() == y.storage() && !same_elements;
  return (overlaps ? y.clone() : y).broadcast_to(x.shape(), where);
}

}  // namespace segue
