#include "xl/tasks/gap_recall.hpp"

#include <algorithm>
#include <cmath>

#include "tensor/fail.hpp"

namespace segue {
namespace {

constexpr Index longest_gap = Index(1) << 24;  // a question is kept as a whole

void check_gap_recall(const GapRecall& task, Where where) {
  if (std::min(task.keys, task.noise) < 1 || std::max(task.keys, task.noise) > longest_gap ||
      task.shortest < 0 || task.longest < task.shortest || task.longest > longest_gap) {
    fail<ValueError>(where,
                     "gap recall: {} keys and {} noise symbols must be in 1 .. {}, and the gap {} "
                     ".. {} in 0 .. {}",
                     task.keys, task.noise, longest_gap, task.shortest, task.longest, longest_gap);
  }
}

// The share of gaps that `reach` tokens see across; the key is gap + 1 tokens before the query.
double share_in_reach(const GapRecall& task, Index reach) {
  const Index within = std::clamp(reach, task.shortest, task.longest + 1) - task.shortest;
  return static_cast<double>(within) / static_cast<double>(task.longest - task.shortest + 1);
}

}  // namespace

QuestionSource gap_recall_questions(const GapRecall& task, Where where) {
  check_gap_recall(task, where);
  return [task](Random& random) {
    const Index gap = task.shortest + random.below(task.longest - task.shortest + 1),
                key = random.below(task.keys);
    Question question = {{key}, key};
    for (Index n = 0; n < gap; ++n) question.tokens.push_back(task.keys + random.below(task.noise));
    question.tokens.push_back(task.keys + task.noise);
    return question;
  };
}

double gap_recall_best_accuracy(const GapRecall& task, Index reach, Where where) {
  check_gap_recall(task, where);
  const double known = share_in_reach(task, reach);
  return known + (1 - known) / static_cast<double>(task.keys);
}

double gap_recall_best_loss(const GapRecall& task, Index reach, Where where) {
  check_gap_recall(task, where);
  return (1 - share_in_reach(task, reach)) * std::log(static_cast<double>(task.keys));
}

}  // namespace segue
