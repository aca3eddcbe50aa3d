// The formulas of layer_norm.cpp read and write a tensor for each operation. A row fits the cache:
// here it is read once, and all that is computed of it stays there.
#include "nn/kernels/layer_norm_rows.hpp"

#include <cmath>

#include "nn/layer_norm.hpp"
#include "tensor/kernels/rows.hpp"
#include "tensor/map.hpp"
#include "tensor/parallel.hpp"

namespace segue {
namespace {

// The mean of get(0) .. get(n-1).
template <class Get>
Real row_mean(Index n, const Get& get) {
  return fold_row(n, Real(0), get, Plus()) / static_cast<Real>(n);
}

// Calls row(number, place of its first element) for each row of x, on several threads.
template <class Row>
void each_row(const Tensor& x, const Row& row) {
  const Index n = x.dim(-1);
  const Index rows = n == 0 ? 0 : x.size() / n;
  parallel_for(rows, elements_per_thread / (4 * n + 1) + 1, [&](Index begin, Index end) {
    for (Index number = begin; number < end; ++number) row(number, number * n);
  });
}

// z, mean and r of one row of n.
void normalize_row(Index n, Real* z, Real* mean, Real* r, const Real* x, const Real* gain,
                   const Real* bias) {
  const Real m = row_mean(n, [=](Index i) { return x[i]; });
  const Real variance = row_mean(n, [=](Index i) { return (x[i] - m) * (x[i] - m); });
  const Real inverse = 1 / std::sqrt(variance + layer_norm_epsilon);
  for (Index i = 0; i < n; ++i) z[i] = gain[i] * ((x[i] - m) * inverse) + bias[i];
  *mean = m;
  *r = inverse;
}

// dx and dgain of one row of n.
void backward_row(Index n, Real* dx, Real* dgain, const Real* x, const Real* dz, const Real* gain,
                  Real mean, Real r) {
  const auto y = [=](Index i) { return (x[i] - mean) * r; };
  const auto dy = [=](Index i) { return dz[i] * gain[i]; };
  const Real mean_dy = row_mean(n, dy);
  const Real slope = row_mean(n, [=](Index i) { return dy(i) * y(i); });
  for (Index i = 0; i < n; ++i) {
    dx[i] = r * (dy(i) - mean_dy - y(i) * slope);
    dgain[i] = dz[i] * y(i);
  }
}

}  // namespace

Tensor layer_norm_rows(const Tensor& x, const Tensor& gain, const Tensor& bias, Tensor& mean,
                       Tensor& r) {
  Tensor z = Tensor::uninitialized(x.shape());
  Real* const to_z = z.data_in_place();
  Real* const to_mean = mean.data_in_place();
  Real* const to_r = r.data_in_place();
  each_row(x, [&](Index row, Index at) {
    normalize_row(x.dim(-1), to_z + at, to_mean + row, to_r + row, x.data() + at, gain.data(),
                  bias.data());
  });
  return z;
}

LayerNormGradients layer_norm_rows_backward(const Tensor& dz, const Tensor& x, const Tensor& gain,
                                            const Tensor& mean, const Tensor& r) {
  const Tensor flat = dz.contiguous();
  Tensor dx = Tensor::uninitialized(x.shape());
  Tensor dgain = Tensor::uninitialized(x.shape());
  Real* const to_x = dx.data_in_place();
  Real* const to_gain = dgain.data_in_place();
  each_row(x, [&](Index row, Index at) {
    backward_row(x.dim(-1), to_x + at, to_gain + at, x.data() + at, flat.data() + at, gain.data(),
                 mean.data()[row], r.data()[row]);
  });
  return {dx, dgain};
}

}  // namespace segue
