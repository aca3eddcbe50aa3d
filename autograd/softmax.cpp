#include "autograd/softmax.hpp"

#include "tensor/softmax.hpp"

namespace segue {

// z = softmax(x)
struct Softmax : Node {
  Saved z{this};
  int axis = -1;
  void backward(const Tensor& dz) override { accumulate(0, softmax_backward(z, dz, axis)); }
};

Variable softmax(const Variable& x, int axis, Where where) {
  auto op = make_node<Softmax>();
  op->z = softmax(x.value(), axis, where);
  op->axis = axis;
  return record("softmax", op, op->z, {x}, where);
}

}  // namespace segue
