#include "xl/tasks/counting.hpp"

#include <algorithm>
#include <cmath>

#include "tensor/fail.hpp"

namespace segue {
namespace {

void check_counting(const Counting& task, Where where) {
  constexpr Index most = Index(1) << 30;
  if (std::min(task.modulus, task.stretch) < 1 || std::max(task.modulus, task.stretch) > most) {
    fail<ValueError>(where, "counting: modulus {} and stretch {} must be in 1 .. {}", task.modulus,
                     task.stretch, most);
  }
}

void write_counted_stretch(TaskRow& row, const Counting& task, Random& random) {
  Index count = row.targets.empty() ? random.below(task.modulus) : row.targets.back();
  row.write(count);
  for (Index distance = 1; distance <= task.stretch; ++distance) {
    const Index tick = random.below(2);
    count = (count + tick) % task.modulus;
    row.write(task.modulus + tick, count, distance);
  }
}

}  // namespace

TaskRows counting_rows(const Counting& task, Index B, Index T, Index segments, Random& random,
                       Where where) {
  check_counting(task, where);
  const auto write_on = [task, &random](TaskRow& row) { write_counted_stretch(row, task, random); };
  return TaskRows(B, T, segments, write_on, where);
}

double counting_best_loss(const Counting& task, Index reach, Where where) {
  check_counting(task, where);
  if (reach < 0) fail<ValueError>(where, "counting: a reach of {} is below 0", reach);
  const double beyond = static_cast<double>(std::max(Index(0), task.stretch - reach));
  return beyond / static_cast<double>(task.stretch) * std::log(static_cast<double>(task.modulus));
}

}  // namespace segue
