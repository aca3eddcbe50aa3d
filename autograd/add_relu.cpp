#include "autograd/add_relu.hpp"

#include "tensor/fail.hpp"
#include "tensor/map.hpp"
#include "tensor/reduce.hpp"

namespace segue {

// z = max(x + b, 0)
struct AddRelu : Node {
  Tensor z;
  void backward(const Tensor& dz) override {
    const Tensor dx =
        map("add_relu", dz, z, where, [](Real d, Real a) { return a > 0 ? d : Real(0); });
    accumulate(0, dx);                       // dx = dz where z > 0
    accumulate(1, sum_to(dx, {z.dim(-1)}));  // db = sum dx
  }
};

Variable add_relu(Variable x, const Variable& b, Where where) {
  if (x.value().rank() < 1 || !(b.shape() == Shape{x.dim(-1)})) {
    fail<ShapeError>(where, "add_relu: x {} with b {}", x.shape(), b.shape());
  }
  const bool ours = x.shared_node().use_count() == 1 && x.value().owns_storage_alone() &&
                    x.value().is_contiguous();
  auto op = make_node<AddRelu>();
  op->z = ours ? x.value() : Tensor::uninitialized(x.shape());
  map_into(op->z, x.value(), b.value(), [](Real a, Real c) { return a + c < 0 ? 0 : a + c; });
  return record("add_relu", op, op->z, {x, b}, where);
}

}  // namespace segue
