#include "nn/loss.hpp"

#include <algorithm>
#include <limits>

#include "autograd/arithmetic.hpp"
#include "autograd/reductions.hpp"
#include "tensor/fail.hpp"
#include "tensor/kernels/math.hpp"
#include "tensor/kernels/rows.hpp"
#include "tensor/map.hpp"

namespace segue {

// loss = l - (x[target] - m), m = max_j x_j, l = log sum_j exp(x_j - m): without m no large number
// drowns the digits
struct CrossEntropy : Node {
  Saved logits{this};                   // [.., V]
  Saved largest{this}, log_sums{this};  // m and l for each row
  Tokens targets;
  void backward(const Tensor& dz) override {  // dx_j = dz (exp(x_j - m - l) - [j = target])
    const Index V = logits.dim(-1);
    const Tensor dloss = dz.contiguous();
    Tensor dx = Tensor::zeros(logits.shape());
    Real* const out = dx.data_in_place();
    parallel_for(targets.size(), elements_per_thread / (8 * V) + 1, [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        if (targets[row] == ignored_target) continue;
        const Real* x = logits.data() + row * V;
        const Real d = dloss.data()[row], m = largest.data()[row], l = log_sums.data()[row];
        for (Index j = 0; j < V; ++j) out[row * V + j] = d * math::exp(x[j] - m - l);
        out[row * V + targets[row]] -= d;
      }
    });
    accumulate(0, dx);
  }
};

namespace {

void check_targets(const Shape& logits, const Tokens& targets, Where where) {
  const Index V = logits.rank() == 0 ? 0 : logits[logits.rank() - 1];
  Shape expected = targets.shape;
  expected.push_back(V, where);
  if (!(logits == expected) || V == 0 || targets.size() != targets.shape.size()) {
    fail<ShapeError>(where, "cross_entropy: logits {} for {} targets of shape {}", logits,
                     targets.size(), targets.shape);
  }
  for (Index row = 0; row < targets.size(); ++row) {
    const Index target = targets[row];
    if (target != ignored_target && (target < 0 || target >= V)) {
      fail<RangeError>(where, "cross_entropy: target {} at position {} is outside 0 .. {}", target,
                       row, V - 1);
    }
  }
}

}  // namespace

Variable cross_entropy(const Variable& logits, const Tokens& targets, Where where) {
  check_targets(logits.shape(), targets, where);
  const Index V = logits.dim(-1);
  auto op = make_node<CrossEntropy>();
  op->logits = logits.value().contiguous();
  Tensor largest = Tensor::uninitialized(targets.shape);
  Tensor log_sums = Tensor::uninitialized(targets.shape);
  op->targets = targets;
  Tensor losses = Tensor::uninitialized(targets.shape);
  Real* const m = largest.data_in_place();
  Real* const l = log_sums.data_in_place();
  Real* const out = losses.data_in_place();
  parallel_for(targets.size(), elements_per_thread / (8 * V) + 1, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const Real* x = op->logits.data() + row * V;
      const auto logit = [x](Index j) { return x[j]; };
      m[row] = fold_row(V, -std::numeric_limits<Real>::infinity(), logit, LargerNumber());
      const auto exponential = [x, top = m[row]](Index j) { return math::exp(x[j] - top); };
      l[row] = math::log(fold_row(V, Real(0), exponential, Plus()));
      out[row] = targets[row] == ignored_target ? Real(0) : l[row] - (x[targets[row]] - m[row]);
    }
  });
  op->largest = largest;
  op->log_sums = log_sums;
  return record("cross_entropy", op, losses, {logits}, where);
}

MeanLoss mean_cross_entropy(const Variable& logits, const Tokens& targets, Where where) {
  const Index count = count_targets(targets);
  const Variable total = sum(cross_entropy(logits, targets, where), where);
  return {scale(total, count == 0 ? 0 : 1 / static_cast<Real>(count), where), count};
}

Index count_targets(const Tokens& targets) {
  return targets.size() - std::count(targets.ids.begin(), targets.ids.end(), ignored_target);
}

}  // namespace segue
