#include "xl/tasks/pair_stream.hpp"

#include <algorithm>
#include <cmath>

#include "tensor/fail.hpp"

namespace segue {
namespace {

void check_pairs(const PairStream& task, Where where) {
  constexpr Index most = 1 << 20;
  if (std::min(task.keys, task.values) < 1 || std::max(task.keys, task.values) > most) {
    fail<ValueError>(where, "pair stream: {} keys and {} values must be in 1 .. {}", task.keys, task.values, most);
  }
}

}  // namespace

TaskRows pair_stream_rows(const PairStream& task, Index B, Index T, Index segments, Random& random, Where where) {
  check_pairs(task, where);
  std::vector<Index> value_of, last_place;  // of each key of the row that is being written
  const auto write_pair = [task, &random, value_of, last_place](TaskRow& row) mutable {
    if (row.tokens.empty()) {
      value_of.clear();
      for (Index key = 0; key < task.keys; ++key) value_of.push_back(task.keys + random.below(task.values));
      last_place.assign(value_of.size(), -1);
    }
    const auto key = static_cast<std::size_t>(random.below(task.keys));
    const auto here = static_cast<Index>(row.tokens.size());
    const bool known = last_place[key] >= 0;
    if (known) row.write(static_cast<Index>(key), value_of[key], here - last_place[key]);
    if (!known) row.write(static_cast<Index>(key));
    row.write(value_of[key]);
    last_place[key] = here;
  };
  return TaskRows(B, T, segments, write_pair, where);
}

double pair_stream_best_loss(const PairStream& task, Index M, Index T, Index segments, Where where) {
  check_pairs(task, where);
  if (M < 0 || T < 2 || segments < 1 || M % 2 != 0 || T % 2 != 0) {
    fail<ValueError>(where, "pair stream: memory {} and segment {} must be even, and segments {} 1 or more", M, T,
                     segments);
  }
  const double other = 1 - 1 / static_cast<double>(task.keys);  // the chance that a pair has another key
  double targets = 0, unknown = 0;
  for (Index pair = 0; pair < segments * T / 2; ++pair) {
    const Index in_sight = std::min(pair, (M + 2 * pair % T) / 2);
    const double never = std::pow(other, pair);  // shown before
    targets += 1 - never;
    unknown += std::pow(other, in_sight) - never;
  }
  return targets > 0 ? unknown / targets * std::log(static_cast<double>(task.values)) : 0;
}

}  // namespace segue
