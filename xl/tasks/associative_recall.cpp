#include "xl/tasks/associative_recall.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tensor/fail.hpp"

namespace segue {
namespace {

constexpr Index most_of_a_kind = Index(1) << 24;  // a question is kept as a whole

void check_associative_recall(const AssociativeRecall& task, Where where) {
  const auto sizes = {task.pairs, task.keys, task.values, task.noise};
  if (std::min(sizes) < 1 || std::max(sizes) > most_of_a_kind || task.pairs > task.keys) {
    fail<ValueError>(where,
                     "associative recall: {} pairs, {} keys, {} values and {} noise symbols must "
                     "be in 1 .. {}, with "
                     "no more pairs than keys",
                     task.pairs, task.keys, task.values, task.noise, most_of_a_kind);
  }
  if (task.shortest < 0 || task.longest < task.shortest || task.longest > most_of_a_kind) {
    fail<ValueError>(where, "associative recall: a gap of {} .. {} must be in 0 .. {}",
                     task.shortest, task.longest, most_of_a_kind);
  }
}

// The first `pairs` of a shuffle of all keys.
std::vector<Index> draw_keys(const AssociativeRecall& task, Random& random) {
  std::vector<Index> keys(static_cast<std::size_t>(task.keys));
  std::iota(keys.begin(), keys.end(), 0);
  for (Index p = 0; p < task.pairs; ++p) {
    std::swap(keys[static_cast<std::size_t>(p)],
              keys[static_cast<std::size_t>(p + random.below(task.keys - p))]);
  }
  keys.resize(static_cast<std::size_t>(task.pairs));
  return keys;
}

Question draw_associative(const AssociativeRecall& task, Random& random) {
  const std::vector<Index> keys = draw_keys(task, random);
  const Index asked = random.below(task.pairs),
              gap = task.shortest + random.below(task.longest - task.shortest + 1);
  Question question;
  for (const Index key : keys) {
    question.tokens.push_back(key);
    question.tokens.push_back(task.keys + random.below(task.values));
  }
  question.answer = question.tokens[static_cast<std::size_t>(2 * asked + 1)];
  for (Index n = 0; n < gap; ++n)
    question.tokens.push_back(task.keys + task.values + random.below(task.noise));
  question.tokens.push_back(keys[static_cast<std::size_t>(asked)]);
  return question;
}

struct Outlook {
  double known;   // the share of questions whose key is in sight
  double likely;  // of the others: the probability of the likeliest value
};

// Behind the gap, `reach - gap` tokens of the pairs are in sight, counted from the last value.
Outlook outlook(const AssociativeRecall& task, Index reach, Index gap) {
  const Index seen = std::clamp(reach - gap, Index(0), 2 * task.pairs);
  const double hidden = static_cast<double>(task.pairs - seen / 2),
               chance = 1 / static_cast<double>(task.values);
  if (hidden == 0) return {1, 1};
  const double meant =
      seen % 2 == 1 ? 1 / hidden : 0;  // the value that is in sight without its key
  return {1 - hidden / static_cast<double>(task.pairs), meant + (1 - meant) * chance};
}

// -sum p ln p, when the likeliest value has `likely` and all others share the rest.
double entropy_of_value(double likely, Index values) {
  const double rest = 1 - likely;
  const double surprise = rest > 0 ? rest * std::log(static_cast<double>(values - 1) / rest) : 0;
  return surprise - likely * std::log(likely);
}

// The mean over all gaps.
double mean_over_gaps(const AssociativeRecall& task,
                      const std::function<double(Index gap)>& value) {
  double total = 0;
  for (Index gap = task.shortest; gap <= task.longest; ++gap) total += value(gap);
  return total / static_cast<double>(task.longest - task.shortest + 1);
}

}  // namespace

QuestionSource associative_recall_questions(const AssociativeRecall& task, Where where) {
  check_associative_recall(task, where);
  return [task](Random& random) { return draw_associative(task, random); };
}

double associative_recall_best_accuracy(const AssociativeRecall& task, Index reach, Where where) {
  check_associative_recall(task, where);
  return mean_over_gaps(task, [&](Index gap) {
    const Outlook view = outlook(task, std::max(reach, Index(0)), gap);
    return view.known + (1 - view.known) * view.likely;
  });
}

double associative_recall_best_loss(const AssociativeRecall& task, Index reach, Where where) {
  check_associative_recall(task, where);
  return mean_over_gaps(task, [&](Index gap) {
    const Outlook view = outlook(task, std::max(reach, Index(0)), gap);
    return (1 - view.known) * entropy_of_value(view.likely, task.values);
  });
}

}  // namespace segue
