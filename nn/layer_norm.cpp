#include "nn/layer_norm.hpp"

#include <cmath>

#include "nn/kernels/layer_norm_rows.hpp"
#include "tensor/elementwise.hpp"
#include "tensor/fail.hpp"
#include "tensor/map.hpp"
#include "tensor/plain.hpp"
#include "tensor/reduce.hpp"

namespace segue {
namespace {

// The mean over the last axis. [.., D] -> [.., 1]
Tensor row_means(const Tensor& x) {
  return div(sum(x, {-1}, true), Tensor::scalar(static_cast<Real>(x.dim(-1))));
}

// (x - mean) r
Tensor normalized(const Tensor& x, const Tensor& mean, const Tensor& r) {
  return mul(sub(x, mean), r);
}

}  // namespace

// z = gain y + bias, y = (x - mean) r. Keeping mean and r of each row, and y not at all, saves a
// tensor of x's size.
struct LayerNormOp : Node {
  Saved x{this}, gain{this}, mean{this}, r{this};
  void backward(const Tensor& dz) override {
    const LayerNormGradients d =
        plain() ? by_formula(dz) : layer_norm_rows_backward(dz, x, gain, mean, r);
    accumulate(0, d.dx);
    accumulate(1, sum_to(d.dgain, gain.shape()));  // dgain = sum dz y
    accumulate(2, sum_to(dz, gain.shape()));       // dbias = sum dz
  }

  LayerNormGradients by_formula(const Tensor& dz) const {
    const Tensor y = normalized(x, mean, r);
    const Tensor dy = mul(dz, gain);  // z = gain y + bias
    // dx = r (dy - mean(dy) - y mean(dy y)): y stays when all x move or stretch, so that part of dy
    // goes.
    const Tensor stretch = mul(y, row_means(mul(dy, y)));
    return {mul(r, sub(sub(dy, row_means(dy)), stretch)), mul(dz, y)};
  }
};

Variable layer_norm(const Variable& x, const Variable& gain, const Variable& bias, Where where) {
  if (x.value().rank() < 1 || !(gain.shape() == Shape{x.dim(-1)}) ||
      !(bias.shape() == gain.shape())) {
    fail<ShapeError>(where, "layer_norm: x {} with gain {} and bias {}", x.shape(), gain.shape(),
                     bias.shape());
  }
  auto op = make_node<LayerNormOp>();
  op->x = x.value().contiguous();
  op->gain = gain.value().contiguous();
  if (!plain()) {
    Tensor mean = Tensor::uninitialized(kept_shape(x.shape(), {-1}));
    Tensor r = Tensor::uninitialized_like(mean);
    const Tensor z = layer_norm_rows(op->x, op->gain, bias.value().contiguous(), mean, r);
    op->mean = mean;
    op->r = r;
    return record("layer_norm", op, z, {x, gain, bias}, where);
  }
  op->mean = row_means(op->x);
  const Tensor centered = sub(op->x, op->mean);
  const Tensor variance = row_means(mul(centered, centered));
  op->r = map(variance, [](Real v) { return 1 / std::sqrt(v + layer_norm_epsilon); });
  const Tensor z = add(mul(op->gain, normalized(op->x, op->mean, op->r)), bias.value());
  return record("layer_norm", op, z, {x, gain, bias}, where);
}

LayerNorm::LayerNorm(Index width)
    : gain(parameter(Tensor::full({width}, 1), "gain")),
      bias(parameter(Tensor::zeros({width}), "bias")) {}

void LayerNorm::visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
  visit(prefix + "gain", gain);
  visit(prefix + "bias", bias);
}

}  // namespace segue
