#include "nn/layer_norm.hpp"

#include <cmath>
#include <tuple>

#include "tensor/fail.hpp"
#include "tensor/map.hpp"
#include "tensor/reduce.hpp"
#include "tensor/rows.hpp"

namespace segue {
namespace {

template <class Get>
Real row_mean(Index n, const Get& get) {
  return fold_row(n, Real(0), get, Plus()) / static_cast<Real>(n);
}

// z = gain y + bias with y = (x - mean) r, r = 1 / sqrt(variance + epsilon); returns mean and r.
std::pair<Real, Real> normalize_row(Real* z, const Real* x, const Real* gain, const Real* bias,
                                    Index n) {
  const Real mean = row_mean(n, [=](Index i) { return x[i]; });
  const Real variance = row_mean(n, [=](Index i) { return (x[i] - mean) * (x[i] - mean); });
  const Real r = 1 / std::sqrt(variance + layer_norm_epsilon);
  for (Index i = 0; i < n; ++i) z[i] = gain[i] * ((x[i] - mean) * r) + bias[i];
  return {mean, r};
}

// dx = r (dy - mean(dy) - y mean(dy y)) with dy = dz gain; dgain gets dz y, this row's part of the
// sum.
void backward_row(Real* dx, Real* dgain, const Real* x, const Real* dz, const Real* gain, Real mean,
                  Real r, Index n) {
  const auto y = [=](Index i) { return (x[i] - mean) * r; };
  const auto dy = [=](Index i) { return dz[i] * gain[i]; };
  const Real mean_dy = row_mean(n, dy);
  const Real slope = row_mean(n, [=](Index i) { return dy(i) * y(i); });
  for (Index i = 0; i < n; ++i) {
    dx[i] = r * (dy(i) - mean_dy - y(i) * slope);
    dgain[i] = dz[i] * y(i);
  }
}

template <class Row>
void each_row(const Tensor& x, const Row& row) {
  const Index n = x.dim(-1), rows = n == 0 ? 0 : x.size() / n;
  parallel_for(rows, elements_per_thread / (4 * n + 1) + 1, [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) row(r, r * n);
  });
}

}  // namespace

// z = gain y + bias, y = (x - mean) r. Keeping mean and r of each row, and y not at all, saves a
// tensor of x's size.
struct LayerNormOp : Node {
  Tensor x, gain, mean, r;
  void backward(const Tensor& dz) override {
    const Tensor flat = dz.contiguous();
    Tensor dx = Tensor::uninitialized(x.shape()), dgain = Tensor::uninitialized(x.shape());
    Real *const out = dx.data_in_place(), *const parts = dgain.data_in_place();
    each_row(x, [&](Index row, Index at) {
      backward_row(out + at, parts + at, x.data() + at, flat.data() + at, gain.data(),
                   mean.data()[row], r.data()[row], x.dim(-1));
    });
    accumulate(0, dx);
    accumulate(1, sum_to(dgain, gain.shape()));  // dgain = sum dz y
    accumulate(2, sum_to(dz, gain.shape()));     // dbias = sum dz
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
  const Tensor in = op->x, g = op->gain, b = bias.value().contiguous();
  const Index n = in.dim(-1), rows = n == 0 ? 0 : in.size() / n;
  op->mean = Tensor::uninitialized({rows}), op->r = Tensor::uninitialized({rows});
  Tensor z = Tensor::uninitialized(in.shape());
  Real *const out = z.data_in_place(), *const mean = op->mean.data_in_place(),
              *const r = op->r.data_in_place();
  each_row(in, [&](Index row, Index at) {
    std::tie(mean[row], r[row]) = normalize_row(out + at, in.data() + at, g.data(), b.data(), n);
  });
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
