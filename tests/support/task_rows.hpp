// What the tests of tasks share: batches glued to rows again, and the least loss counted over all texts.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "nn/loss.hpp"
#include "xl/tasks/task_rows.hpp"

namespace segue {

/// The next `segments` batches as whole rows.
inline std::vector<TaskRow> next_rows(TaskRows& source, Index segments) {
  std::vector<TaskRow> rows;
  for (Index n = 0; n < segments; ++n) {
    const Batch batch = source.next();
    const Index B = batch.inputs.shape[0], T = batch.inputs.shape[1];
    rows.resize(static_cast<std::size_t>(B));
    for (Index k = 0; k < B * T; ++k) {
      rows[static_cast<std::size_t>(k / T)].write(batch.inputs[k], batch.targets[k], source.distances()[k]);
    }
  }
  return rows;
}

inline bool same_rows(const std::vector<TaskRow>& a, const std::vector<TaskRow>& b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i) {
    same = a[i].tokens == b[i].tokens && a[i].targets == b[i].targets && a[i].distances == b[i].distances;
  }
  return same;
}

/// The mean entropy of the targets from place `from` on, given exactly the token there and `reach` before it, over
/// texts that are all equally likely. It looks at tokens and targets only.
inline double counted_entropy(const std::vector<TaskRow>& texts, Index from, Index reach) {
  std::map<std::vector<Index>, std::map<Index, double>> targets_after;  // what is seen -> how often each target follows
  double total = 0;
  for (const TaskRow& text : texts) {
    for (Index t = from; t < static_cast<Index>(text.tokens.size()); ++t) {
      const Index target = text.targets[static_cast<std::size_t>(t)];
      if (target == ignored_target) continue;
      const std::vector<Index> seen(text.tokens.begin() + std::max(Index(0), t - reach), text.tokens.begin() + t + 1);
      ++targets_after[seen][target];
      ++total;
    }
  }
  double entropy = 0;
  for (const auto& [seen, counts] : targets_after) {
    double all = 0;
    for (const auto& [target, count] : counts) all += count;
    for (const auto& [target, count] : counts) entropy -= count / total * std::log(count / all);
  }
  return entropy;
}

/// The part of the targets in these rows that hang on a token farther back than `reach`.
inline double share_beyond(const std::vector<TaskRow>& rows, Index reach) {
  double beyond = 0, all = 0;
  for (const TaskRow& row : rows) {
    for (const Index distance : row.distances) {
      all += distance >= 0 ? 1 : 0;
      beyond += distance > reach ? 1 : 0;
    }
  }
  return beyond / all;
}

}  // namespace segue
