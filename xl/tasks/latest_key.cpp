#include "xl/tasks/latest_key.hpp"

#include <algorithm>
#include <cmath>

#include "tensor/fail.hpp"

namespace segue {
namespace {

void check_latest_key(const LatestKey& task, Where where) {
  constexpr Index most = 1 << 20;
  if (std::min({task.keys, task.noise, task.rarity}) < 1 ||
      std::max({task.keys, task.noise, task.rarity}) > most) {
    fail<ValueError>(
        where, "latest key: {} keys, {} kinds of noise and a key in {} tokens must be in 1 .. {}",
        task.keys, task.noise, task.rarity, most);
  }
}

}  // namespace

TaskRows latest_key_rows(const LatestKey& task, Index B, Index T, Index segments, Random& random,
                         Where where) {
  check_latest_key(task, where);
  const auto write_token = [task, &random, key = Index(0),
                            place = Index(-1)](TaskRow& row) mutable {
    const auto here = static_cast<Index>(row.tokens.size());
    if (here == 0) place = -1;
    if (random.below(task.rarity) == 0) {
      key = random.below(task.keys), place = here;
      row.write(key);
      return;
    }
    const Index noise = task.keys + random.below(task.noise);
    if (place < 0) row.write(noise);
    if (place >= 0) row.write(noise, key, here - place);
  };
  return TaskRows(B, T, segments, write_token, where);
}

double latest_key_best_loss(const LatestKey& task, Index M, Index T, Index segments, Where where) {
  check_latest_key(task, where);
  constexpr Index most = Index(1) << 30;  // so that the tokens of a row can be counted
  if (std::min(T, segments) < 1 || M < 0 || std::max({T, segments, M}) > most) {
    fail<ValueError>(where,
                     "latest key: no rows have {} segments of {} tokens behind a memory of {}",
                     segments, T, M);
  }
  const double noise =
      1 - 1 / static_cast<double>(task.rarity);  // the chance that a token is no key
  double targets = 0, unknown = 0;
  for (Index t = 0; t < segments * T; ++t) {
    const double none_before = std::pow(noise, t);
    targets += 1 - none_before;
    unknown += std::pow(noise, std::min(t, M + t % T)) - none_before;
  }
  return targets > 0 ? unknown / targets * std::log(static_cast<double>(task.keys)) : 0;
}

}  // namespace segue
