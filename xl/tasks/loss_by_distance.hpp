// How far back a model knows.
#pragma once

#include "xl/language_model.hpp"
#include "xl/tasks/task_rows.hpp"

namespace segue {

struct LossAtDistance {
  Index distance, targets;  // how many targets hang on a token so far back
  double loss;              // their mean, in nats
};

/// The distances that occur in the next `batches` batches of a task, in rising order. The memory is
/// empty at first and keeps up to `memory_length` positions. Throws ValueError for `batches`
/// below 1.
std::vector<LossAtDistance> loss_by_distance(const LanguageModel& model, TaskRows& rows,
                                             Index batches, Index memory_length,
                                             Where where = Where::current());

}  // namespace segue
