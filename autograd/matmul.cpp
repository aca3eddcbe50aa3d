#include "autograd/matmul.hpp"

#include "tensor/matmul.hpp"
#include "tensor/reduce.hpp"

namespace segue {

Tensor gradient_of_left_factor(const Tensor& dz, const Tensor& x, const Tensor& y) {
  return sum_to(matmul(dz, y.transpose(-1, -2)), x.shape());
}

Tensor gradient_of_right_factor(const Tensor& dz, const Tensor& x, const Tensor& y) {
  // Without elements the -1 below could not be worked out.
  if (y.rank() > 2 || x.size() == 0 || dz.size() == 0) {
    return sum_to(matmul(x.transpose(-1, -2), dz), y.shape());
  }
  // One matrix y for the whole batch: its gradient sums over the batch, too, so the batch joins the
  // rows.
  return matmul(x.reshape({-1, x.dim(-1)}).transpose(0, 1), dz.reshape({-1, dz.dim(-1)}));
}

// z = x y
struct Matmul : Node {
  Saved x{this}, y{this};
  void backward(const Tensor& dz) override {
    if (wants(0)) accumulate(0, gradient_of_left_factor(dz, x, y));   // dx = dz y^T
    if (wants(1)) accumulate(1, gradient_of_right_factor(dz, x, y));  // dy = x^T dz
  }
};

Variable matmul(const Variable& x, const Variable& y, Where where) {
  auto op = make_node<Matmul>();
  op->x = x.value();
  op->y = y.value();
  return record("matmul", op, matmul(op->x, op->y, where), {x, y}, where);
}

}  // namespace segue
