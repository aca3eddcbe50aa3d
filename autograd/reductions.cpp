#include "autograd/reductions.hpp"

#include <algorithm>

#include "autograd/arithmetic.hpp"
#include "tensor/reduce.hpp"

namespace segue {

// z = sum of x over some axes
struct Sum : Node {
  Shape kept;  // that of x with the reduced axes of length 1
  void backward(const Tensor& dz) override {
    accumulate(0, dz.reshape(kept).broadcast_to(input_shape(0)));
  }  // dx = dz
};

Variable sum(const Variable& x, const Axes& axes, bool keep, Where where) {
  auto op = make_node<Sum>();
  op->kept = kept_shape(x.shape(), axes, where);
  return record("sum", op, sum(x.value(), axes, keep, where), {x}, where);
}

Variable mean(const Variable& x, const Axes& axes, bool keep, Where where) {
  const Variable total = sum(x, axes, keep, where);
  const Index count = x.value().size() / std::max<Index>(total.value().size(), 1);
  return scale(total, 1 / static_cast<Real>(count), where);
}

Variable sum(const Variable& x, Where where) {
  return sum(x, all_axes(x.value().rank()), false, where);
}
Variable mean(const Variable& x, Where where) {
  return mean(x, all_axes(x.value().rank()), false, where);
}

}  // namespace segue
