#include "nn/layer_norm.hpp"

#include <cmath>

#include "autograd/arithmetic.hpp"
#include "autograd/functions.hpp"
#include "autograd/reductions.hpp"
#include "tensor/elementwise.hpp"
#include "tensor/fail.hpp"
#include "tensor/map.hpp"
#include "tensor/reduce.hpp"
#include "tensor/rows.hpp"

namespace segue {
namespace {

constexpr Real epsilon = Real(1e-5);  // inside the root, so that a constant row has a finite gradient

template <class Get>
Real row_mean(Index n, const Get& get) {
  return fold_row(n, Real(0), get, Plus()) / static_cast<Real>(n);
}

// y = (x - mean) r with r = 1 / sqrt(variance + epsilon); returns r.
Real normalize_row(Real* y, const Real* x, Index n) {
  const Real mean = row_mean(n, [=](Index i) { return x[i]; });
  const Real variance = row_mean(n, [=](Index i) { return (x[i] - mean) * (x[i] - mean); });
  const Real r = 1 / std::sqrt(variance + epsilon);
  for (Index i = 0; i < n; ++i) y[i] = (x[i] - mean) * r;
  return r;
}

// dx = r (dy - mean(dy) - y mean(dy y))
void normalize_backward_row(Real* dx, const Real* y, const Real* dy, Real r, Index n) {
  const Real mean = row_mean(n, [=](Index i) { return dy[i]; });
  const Real slope = row_mean(n, [=](Index i) { return dy[i] * y[i]; });
  for (Index i = 0; i < n; ++i) dx[i] = r * (dy[i] - mean - y[i] * slope);
}

template <class Row>
void each_row(const Tensor& x, const Row& row) {
  const Index n = x.dim(-1), rows = n == 0 ? 0 : x.size() / n;
  parallel_for(rows, elements_per_thread / (4 * n + 1) + 1, [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) row(r, r * n);
  });
}

}  // namespace

// z = gain y + bias, y = (x - mean) r
struct LayerNormOp : Node {
  Tensor y, gain;
  Tensor r;  // one for each row
  void backward(const Tensor& dz) override {
    Axes leading = all_axes(y);
    leading.pop_back();
    if (wants(1)) accumulate(1, sum(mul(dz, y), leading));  // dgain = sum dz y
    if (wants(2)) accumulate(2, sum(dz, leading));          // dbias = sum dz
    if (!wants(0)) return;
    const Tensor dy = mul(dz, gain);  // dy = dz gain
    Tensor dx = Tensor::uninitialized(y.shape());
    Real* out = dx.data_in_place();
    each_row(y, [&](Index row, Index at) {
      normalize_backward_row(out + at, y.data() + at, dy.data() + at, r.data()[row], y.dim(-1));
    });
    accumulate(0, dx);
  }
};

Variable layer_norm(const Variable& x, const Variable& gain, const Variable& bias, Where where) {
  if (x.value().rank() < 1 || !(gain.shape() == Shape{x.dim(-1)}) || !(bias.shape() == gain.shape())) {
    fail<ShapeError>(where, "layer_norm: x {} with gain {} and bias {}", x.shape(), gain.shape(), bias.shape());
  }
  const Tensor in = x.value().contiguous();
  const Index n = in.dim(-1);
  auto op = make_node<LayerNormOp>();
  op->gain = gain.value();
  op->y = Tensor::uninitialized(in.shape());
  op->r = Tensor::uninitialized({n == 0 ? 0 : in.size() / n});
  Real* y = op->y.data_in_place();
  Real* r = op->r.data_in_place();
  each_row(in, [&](Index row, Index at) { r[row] = normalize_row(y + at, in.data() + at, n); });
  const Tensor z = add(mul(op->y, gain.value()), bias.value());
  return record("layer_norm", op, z, {x, gain, bias}, where);
}

Variable layer_norm_plain(const Variable& x, const Variable& gain, const Variable& bias) {
  const Variable centered = x - mean(x, {-1}, true);
  const Variable variance = mean(centered * centered, {-1}, true);
  return centered / sqrt(variance + epsilon) * gain + bias;
}

LayerNorm::LayerNorm(Index width)
    : gain(parameter(Tensor::full({width}, 1), "gain")), bias(parameter(Tensor::zeros({width}), "bias")) {}

void LayerNorm::visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
  visit(prefix + "gain", gain);
  visit(prefix + "bias", bias);
}

}  // namespace segue
