#include "autograd/functions.hpp"

#include "tensor/elementwise.hpp"
#include "tensor/map.hpp"

namespace segue {

// z = e^x
struct Exp : Node {
  Tensor z;
  void backward(const Tensor& dz) override { accumulate(0, mul(dz, z)); }  // dx = dz z
};

Variable exp(const Variable& x, Where where) {
  auto op = make_node<Exp>();
  op->z = exp(x.value());
  return record("exp", op, op->z, {x}, where);
}

// z = ln x
struct Log : Node {
  Tensor x;
  void backward(const Tensor& dz) override { accumulate(0, div(dz, x)); }  // dx = dz / x
};

Variable log(const Variable& x, Where where) {
  auto op = make_node<Log>();
  op->x = x.value();
  return record("log", op, log(op->x), {x}, where);
}

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

// z = tanh x
struct Tanh : Node {
  Tensor z;
  void backward(const Tensor& dz) override {  // dx = dz (1 - z^2)
    accumulate(0, map("tanh", dz, z, where, [](Real d, Real t) { return d * (1 - t * t); }));
  }
};

Variable tanh(const Variable& x, Where where) {
  auto op = make_node<Tanh>();
  op->z = tanh(x.value());
  return record("tanh", op, op->z, {x}, where);
}

// z = 1 / (1 + e^-x)
struct Sigmoid : Node {
  Tensor z;
  void backward(const Tensor& dz) override {  // dx = dz z (1 - z)
    accumulate(0, map("sigmoid", dz, z, where, [](Real d, Real s) { return d * s * (1 - s); }));
  }
};

Variable sigmoid(const Variable& x, Where where) {
  auto op = make_node<Sigmoid>();
  op->z = sigmoid(x.value());
  return record("sigmoid", op, op->z, {x}, where);
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
