#include "xl/tasks/periodic_copy.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "nn/loss.hpp"
#include "tensor/fail.hpp"

namespace segue {

PeriodicCopy::PeriodicCopy(Index period, Index V, Index B, Index T, Index segments, Random& random,
                           Where where)
    : period_(period), V_(V), B_(B), T_(T), segments_(segments), random_(random) {
  constexpr Index most = Index(1) << 30;  // so that products can be counted
  if (std::min({period, V, B, T, segments}) < 1 || std::max({period, V, B, T, segments}) > most) {
    fail<ValueError>(where,
                     "periodic copy: period {}, symbols {}, rows {}, segment {} and segments {} "
                     "must be in 1 .. {}",
                     period, V, B, T, segments, most);
  }
}

Batch PeriodicCopy::next() {
  const Index length = segments_ * T_ + 1;
  Batch batch = {Tokens({B_, T_}), Tokens({B_, T_}), {}};
  if (position_ == 0) {
    rows_ = Tokens({B_, length});
    for (Index b = 0; b < B_; ++b) {
      for (Index t = 0; t < length; ++t) {
        rows_[b * length + t] = t < period_ ? random_.below(V_) : rows_[b * length + t - period_];
      }
    }
    batch.resets.resize(static_cast<std::size_t>(B_));
    std::iota(batch.resets.begin(), batch.resets.end(), 0);
  }
  for (Index b = 0; b < B_; ++b) {
    for (Index i = 0; i < T_; ++i) {
      const Index t = position_ * T_ + i;
      batch.inputs[b * T_ + i] = rows_[b * length + t];
      batch.targets[b * T_ + i] = t + 1 < period_ ? ignored_target : rows_[b * length + t + 1];
    }
  }
  position_ = (position_ + 1) % segments_;
  return batch;
}

double periodic_copy_best_loss(Index M, Index i, Index period, Index V) {
  return M >= period - 1 - i ? 0 : std::log(static_cast<double>(V));
}

}  // namespace segue
