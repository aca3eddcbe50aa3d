#include "xl/tasks/periodic_copy.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tensor/fail.hpp"

namespace segue {

namespace {

TaskRows periodic_rows(Index period, Index V, Index B, Index T, Index segments, Random& random,
                       Where where) {
  constexpr Index most = Index(1) << 30;  // so that products can be counted
  if (std::min({period, V, B, T, segments}) < 1 || std::max({period, V, B, T, segments}) > most) {
    fail<ValueError>(where,
                     "periodic copy: period {}, symbols {}, rows {}, segment {} and segments {} "
                     "must be in 1 .. {}",
                     period, V, B, T, segments, most);
  }
  const Index drawn = std::min(period, segments * T + 1);  // no more of a block is ever seen
  const auto write_on = [=, &random, block = std::vector<Index>()](TaskRow& row) mutable {
    const Index t = static_cast<Index>(row.tokens.size());
    if (t == 0) block.clear();
    while (static_cast<Index>(block.size()) < drawn) block.push_back(random.below(V));
    const auto symbol = [&](Index at) { return block[static_cast<std::size_t>(at % period)]; };
    if (t + 1 < period) row.write(symbol(t));
    if (t + 1 >= period) row.write(symbol(t), symbol(t + 1), period - 1);
  };
  return TaskRows(B, T, segments, write_on, where);
}

}  // namespace

PeriodicCopy::PeriodicCopy(Index period, Index V, Index B, Index T, Index segments, Random& random,
                           Where where)
    : rows_(periodic_rows(period, V, B, T, segments, random, where)) {}

Batch PeriodicCopy::next() { return rows_.next(); }

double periodic_copy_best_loss(Index M, Index i, Index period, Index V) {
  return M >= period - 1 - i ? 0 : std::log(static_cast<double>(V));
}

}  // namespace segue
