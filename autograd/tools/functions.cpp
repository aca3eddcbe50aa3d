#include "autograd/tools/functions.hpp"

#include "tensor/elementwise.hpp"
#include "tensor/kernels/math.hpp"
#include "tensor/map.hpp"
#include "tensor/reduce.hpp"
#include "tensor/tools/functions.hpp"

namespace segue {

// z = e^x
struct Exp : Node {
  Saved z{this};
  void backward(const Tensor& dz) override { accumulate(0, mul(dz, z)); }  // dx = dz z
};

Variable exp(const Variable& x, Where where) {
  auto op = make_node<Exp>();
  op->z = exp(x.value());
  return record("exp", op, op->z, {x}, where);
}

// z = ln x
struct Log : Node {
  Saved x{this};
  void backward(const Tensor& dz) override { accumulate(0, div(dz, x)); }  // dx = dz / x
};

Variable log(const Variable& x, Where where) {
  auto op = make_node<Log>();
  op->x = x.value();
  return record("log", op, log(op->x), {x}, where);
}

// z = tanh x
struct Tanh : Node {
  Saved z{this};
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
  Saved z{this};
  void backward(const Tensor& dz) override {  // dx = dz z (1 - z)
    accumulate(0, map("sigmoid", dz, z, where, [](Real d, Real s) { return d * s * (1 - s); }));
  }
};

Variable sigmoid(const Variable& x, Where where) {
  auto op = make_node<Sigmoid>();
  op->z = sigmoid(x.value());
  return record("sigmoid", op, op->z, {x}, where);
}

// z = x^y
struct Pow : Node {
  Saved x{this}, y{this};
  void backward(const Tensor& dz) override {
    if (wants(0)) {  // dx = dz y x^(y-1), and 0 where y = 0
      const auto slope = [](Real a, Real b) { return b == 0 ? Real(0) : b * math::pow(a, b - 1); };
      accumulate(0, sum_to(mul(dz, map("pow", x, y, where, slope)), x.shape()));
    }
    if (wants(1)) {  // dy = dz x^y ln x, and 0 where x = 0 and y >= 0
      const auto slope = [](Real a, Real b) {
        return a == 0 && b >= 0 ? Real(0) : math::pow(a, b) * math::log(a);
      };
      accumulate(1, sum_to(mul(dz, map("pow", x, y, where, slope)), y.shape()));
    }
  }
};

Variable pow(const Variable& x, const Variable& y, Where where) {
  auto op = make_node<Pow>();
  op->x = x.value();
  op->y = y.value();
  return record("pow", op, pow(op->x, op->y, where), {x, y}, where);
}
Variable pow(const Variable& x, Real y, Where where) {
  return pow(x, Variable(Tensor::scalar(y), "", where), where);
}
Variable pow(Real x, const Variable& y, Where where) {
  return pow(Variable(Tensor::scalar(x), "", where), y, where);
}

// z = max of x over some axes
struct Max : Node {
  Saved x{this}, z{this};  // z with the reduced axes kept
  Axes axes;
  void backward(const Tensor& dz) override {  // dx = dz / (number of maxima) at each maximum
    const Tensor is_max =
        map("max", x, z, where, [](Real a, Real m) { return a == m ? Real(1) : Real(0); });
    const Tensor share = div(dz.reshape(z.shape()), sum(is_max, axes, true));
    accumulate(0, mul(is_max, share));
  }
};

Variable max(const Variable& x, const Axes& axes, bool keep, Where where) {
  auto op = make_node<Max>();
  op->x = x.value();
  op->z = max(op->x, axes, true, where);
  op->axes = axes;
  const Tensor z = keep ? op->z : max(op->x, axes, false, where);
  return record("max", op, z, {x}, where);
}

// z = log softmax(x)
struct LogSoftmax : Node {
  Saved z{this};
  int axis = -1;
  void backward(const Tensor& dz) override { accumulate(0, log_softmax_backward(z, dz, axis)); }
};

Variable log_softmax(const Variable& x, int axis, Where where) {
  auto op = make_node<LogSoftmax>();
  op->z = log_softmax(x.value(), axis, where);
  op->axis = axis;
  return record("log_softmax", op, op->z, {x}, where);
}

// z = x, repeated along axes of length 1
struct BroadcastTo : Node {
  void backward(const Tensor& dz) override { accumulate(0, sum_to(dz, input_shape(0))); }
};

Variable broadcast_to(const Variable& x, const Shape& shape, Where where) {
  return record("broadcast_to", make_node<BroadcastTo>(), x.value().broadcast_to(shape, where), {x},
                where);
}

// z = sqrt x
struct Sqrt : Node {
  Saved z{this};
  void backward(const Tensor& dz) override {
    accumulate(0, div(scale(dz, Real(0.5)), z));
  }  // dx = dz / (2 z)
};

Variable sqrt(const Variable& x, Where where) {
  auto op = make_node<Sqrt>();
  op->z = sqrt(x.value());
  return record("sqrt", op, op->z, {x}, where);
}

// z = sqrt(sum of x^2 over some axes)
struct Norm : Node {
  Saved x{this}, z{this};                     // z with the reduced axes kept
  void backward(const Tensor& dz) override {  // dx = dz x / z, and 0 where z = 0
    const auto quotient = [](Real a, Real n) { return n == 0 ? Real(0) : a / n; };
    accumulate(0, mul(map("norm", x, z, where, quotient), dz.reshape(z.shape())));
  }
};

Variable norm(const Variable& x, const Axes& axes, bool keep, Where where) {
  auto op = make_node<Norm>();
  op->x = x.value();
  op->z = sqrt(sum(mul(op->x, op->x), axes, true, where));
  const Tensor z = keep ? Tensor(op->z) : sqrt(sum(mul(op->x, op->x), axes, false, where));
  return record("norm", op, z, {x}, where);
}

}  // namespace segue
