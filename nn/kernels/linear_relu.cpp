// The hidden states of a feed-forward layer are the largest tensors that a layer makes. In single
// ops there are three of them: the product, the product with its bias, and what relu leaves of it.
// Here bias and relu are added to the product in its place, and only the last one is kept.
#include "nn/kernels/linear_relu.hpp"

#include "autograd/matmul.hpp"
#include "tensor/fail.hpp"
#include "tensor/map.hpp"
#include "tensor/matmul.hpp"
#include "tensor/reduce.hpp"

namespace segue {

// z = max(x w + b, 0)
struct LinearRelu : Node {
  Saved x{this}, w{this}, z{this};
  void backward(const Tensor& dz) override {
    const auto slope = [](Real d, Real a) { return a > 0 ? d : Real(0); };
    const Tensor d = map("linear_relu", dz, z, where, slope);        // of x w + b: dz where z > 0
    if (wants(0)) accumulate(0, gradient_of_left_factor(d, x, w));   // dx = d w^T
    if (wants(1)) accumulate(1, gradient_of_right_factor(d, x, w));  // dw = x^T d
    if (wants(2)) accumulate(2, sum_to(d, {z.dim(-1)}));             // db = sum d
  }
};

Variable linear_relu(const Variable& x, const Variable& w, const Variable& b, Where where) {
  Tensor z = matmul(x.value(), w.value(), where);
  if (!(b.shape() == Shape{z.dim(-1)})) {
    fail<ShapeError>(where, "linear_relu: a product {} with a bias {}", z.shape(), b.shape());
  }
  map_into(z, z, b.value(), [](Real a, Real c) { return a + c < 0 ? Real(0) : a + c; });
  auto op = make_node<LinearRelu>();
  op->x = x.value();
  op->w = w.value();
  op->z = z;
  return record("linear_relu", op, z, {x, w, b}, where);
}

}  // namespace segue
