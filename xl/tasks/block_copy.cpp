#include "xl/tasks/block_copy.hpp"

#include <algorithm>
#include <cmath>

#include "tensor/fail.hpp"

namespace segue {
namespace {

void check_block_copy(const BlockCopy& task, Where where) {
  constexpr Index most = Index(1) << 28;  // so that an episode can be counted
  if (std::min({task.symbols, task.block, task.spread}) < 1 || task.gap < 0 ||
      std::max({task.symbols, task.spread, task.gap}) > most) {
    fail<ValueError>(
        where,
        "block copy: symbols {}, block {} and spread {} must be in 1 .. {}, gap {} in 0 .. {}",
        task.symbols, task.block, task.spread, most, task.gap, most);
  }
  if (task.block > task.spread) {
    fail<ValueError>(where, "block copy: {} symbols do not fit into {} places", task.block,
                     task.spread);
  }
}

// How far before the token that predicts it a symbol stands, number k of the block and at this
// place of the spread.
Index copy_distance(const BlockCopy& task, Index k, Index place) {
  const Index answer = task.reversed ? task.block - 1 - k : k;
  return task.spread + task.gap + answer - place;
}

void write_block_episode(TaskRow& row, const BlockCopy& task, Random& random) {
  const auto write_noise = [&] { row.write(task.symbols + random.below(task.symbols)); };
  std::vector<Index> block, distances;
  for (Index place = 0; place < task.spread; ++place) {
    // With s symbols left for p places, this place gets one with chance s / p (Knuth 1981,
    // algorithm S).
    const Index k = static_cast<Index>(block.size());
    if (random.below(task.spread - place) < task.block - k) {
      block.push_back(random.below(task.symbols));
      distances.push_back(copy_distance(task, k, place));
      row.write(block.back());
    } else {
      write_noise();
    }
  }
  for (Index n = 0; n < task.gap; ++n) write_noise();
  if (task.reversed) {
    std::reverse(block.begin(), block.end());
    std::reverse(distances.begin(), distances.end());
  }
  Index last = 2 * task.symbols;  // the mark
  for (std::size_t k = 0; k < block.size(); ++k) {
    row.write(last, block[k], distances[k]);
    last = block[k];
  }
  row.write(last);
}

}  // namespace

Index block_copy_length(const BlockCopy& task, Where where) {
  check_block_copy(task, where);
  return task.spread + task.gap + 1 + task.block;
}

TaskRows block_copy_rows(const BlockCopy& task, Index B, Index T, Index segments, Random& random,
                         Where where) {
  check_block_copy(task, where);
  const auto write_on = [task, &random](TaskRow& row) { write_block_episode(row, task, random); };
  return TaskRows(B, T, segments, write_on, where);
}

double block_copy_best_loss(const BlockCopy& task, Index reach, Where where) {
  check_block_copy(task, where);
  if (reach < 0) fail<ValueError>(where, "block copy: a reach of {} is below 0", reach);
  // The same walk over the places, with chances instead of draws: chance[k] that k symbols stand
  // before this one.
  std::vector<double> chance(static_cast<std::size_t>(task.block) + 1, 0);
  chance[0] = 1;
  double beyond = 0;  // symbols of a block that are out of reach, on average
  for (Index place = 0; place < task.spread; ++place) {
    for (Index k = task.block - 1; k >= 0; --k) {
      const auto at = static_cast<std::size_t>(k);
      const double share = std::min(
          1.0, static_cast<double>(task.block - k) / static_cast<double>(task.spread - place));
      const double here = chance[at] * share;
      chance[at] -= here;
      chance[at + 1] += here;
      if (copy_distance(task, k, place) > reach) beyond += here;
    }
  }
  return beyond / static_cast<double>(task.block) * std::log(static_cast<double>(task.symbols));
}

}  // namespace segue
