#include "autograd/arithmetic.hpp"

#include "tensor/elementwise.hpp"
#include "tensor/reduce.hpp"

namespace segue {

// z = x + y
struct Add : Node {
  void backward(const Tensor& dz) override {
    if (wants(0)) accumulate(0, sum_to(dz, input_shape(0)));  // dx = dz
    if (wants(1)) accumulate(1, sum_to(dz, input_shape(1)));  // dy = dz
  }
};

Variable add(const Variable& x, const Variable& y, Where where) {
  return record("add", make_node<Add>(), add(x.value(), y.value(), where), {x, y}, where);
}

// z = x - y
struct Sub : Node {
  void backward(const Tensor& dz) override {
    if (wants(0)) accumulate(0, sum_to(dz, input_shape(0)));       // dx = dz
    if (wants(1)) accumulate(1, neg(sum_to(dz, input_shape(1))));  // dy = -dz
  }
};

Variable sub(const Variable& x, const Variable& y, Where where) {
  return record("sub", make_node<Sub>(), sub(x.value(), y.value(), where), {x, y}, where);
}

// z = x y
struct Mul : Node {
  Saved x{this}, y{this};
  void backward(const Tensor& dz) override {
    if (wants(0)) accumulate(0, sum_to(mul(dz, y), x.shape()));  // dx = dz y
    if (wants(1)) accumulate(1, sum_to(mul(dz, x), y.shape()));  // dy = dz x
  }
};

Variable mul(const Variable& x, const Variable& y, Where where) {
  auto op = make_node<Mul>();
  op->x = x.value();
  op->y = y.value();
  return record("mul", op, mul(op->x, op->y, where), {x, y}, where);
}

// z = x / y
struct Div : Node {
  Saved x{this}, y{this};
  void backward(const Tensor& dz) override {
    const Tensor dx = div(dz, y);
    if (wants(0)) accumulate(0, sum_to(dx, x.shape()));                       // dx = dz / y
    if (wants(1)) accumulate(1, sum_to(neg(div(mul(dx, x), y)), y.shape()));  // dy = -dz x / y^2
  }
};

Variable div(const Variable& x, const Variable& y, Where where) {
  auto op = make_node<Div>();
  op->x = x.value();
  op->y = y.value();
  return record("div", op, div(op->x, op->y, where), {x, y}, where);
}

// z = -x
struct Neg : Node {
  void backward(const Tensor& dz) override { accumulate(0, neg(dz)); }  // dx = -dz
};

Variable neg(const Variable& x, Where where) {
  return record("neg", make_node<Neg>(), neg(x.value()), {x}, where);
}

// z = c x
struct Scale : Node {
  Real c = 1;
  void backward(const Tensor& dz) override { accumulate(0, scale(dz, c)); }  // dx = c dz
};

Variable scale(const Variable& x, Real c, Where where) {
  auto op = make_node<Scale>();
  op->c = c;
  return record("scale", op, scale(x.value(), c), {x}, where);
}

}  // namespace segue
