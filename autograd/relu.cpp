#include "autograd/relu.hpp"

#include "tensor/map.hpp"

namespace segue {

// z = max(x, 0)
struct Relu : Node {
  Saved x{this};
  void backward(const Tensor& dz) override {  // dx = dz where x > 0
    accumulate(0, map("relu", dz, x, where, [](Real d, Real a) { return a > 0 ? d : Real(0); }));
  }
};

Variable relu(const Variable& x, Where where) {
  auto op = make_node<Relu>();
  op->x = x.value();
  return record("relu", op, map(op->x, [](Real a) { return a < 0 ? Real(0) : a; }), {x}, where);
}

}  // namespace segue
