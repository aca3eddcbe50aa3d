#include "autograd/functions.hpp"

#include "tensor/elementwise.hpp"
#include "tensor/map.hpp"

namespace segue {

// z = sqrt x
struct Sqrt : Node {
  Tensor z;
  void backward(const Tensor& dz) override { accumulate(0, div(scale(dz, Real(0.5)), z)); }  // dx = dz / (2 z)
};

Variable sqrt(const Variable& x, Where where) {
  auto op = make_node<Sqrt>();
  op->z = sqrt(x.value());
  return record("sqrt", op, op->z, {x}, where);
}

// z = max(x, 0)
struct Relu : Node {
  Tensor x;
  void backward(const Tensor& dz) override {  // dx = dz where x > 0
    accumulate(0, map("relu", dz, x, where, [](Real d, Real a) { return a > 0 ? d : Real(0); }));
  }
};

Variable relu(const Variable& x, Where where) {
  auto op = make_node<Relu>();
  op->x = x.value();
  return record("relu", op, relu(op->x), {x}, where);
}

}  // namespace segue
