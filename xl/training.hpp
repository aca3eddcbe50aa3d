// The training loop.
#pragma once

#include <functional>

#include "nn/optimizer.hpp"
#include "xl/language_model.hpp"
#include "xl/streams.hpp"

namespace segue {

/// What a run carries from step to step. With model and optimiser it is all that a run needs to be
/// taken up again.
struct TrainingState {
  Index step = 0;  // segments read
  Memory memory;
  Random random;              // of dropout
  Index without_targets = 0;  // of the segments: these are no steps of the learning rate
};

struct StepReport {
  Index step;            // counts from 1
  double loss;           // mean over the targets of this step, in nats
  Index targets;         // how many there were; with none the segment was read, and no more
  double gradient_norm;  // before clipping
  Real learning_rate;    // of this update, or of the next one where there was none
  bool skipped;  // the gradient was not finite, so nothing was changed and the memory begins anew
};

struct TrainingOptions {
  Index steps = 1000;                             // train until state.step has reached this
  Real clip = Real(0.25);                         // largest norm of the gradient
  std::function<Real(Index step)> learning_rate;  // of steps 1, 2, ..
  std::function<bool(const StepReport&)>
      report;  // may be empty; false ends the training after this step
};

/// Trains on the segments that `next_batch` gives, one a step. A segment whose targets are all
/// ignored moves the memory on but leaves weights, optimiser and schedule as they are; it still
/// counts in state.step, so that a text without any target comes to an end. Throws ValueError
/// without a learning rate or with a limit that is not above 0, and what the model throws for a
/// batch that does not fit; the weights are then as they were.
void train(const LanguageModel& model, Adam& optimizer, TrainingState& state,
           const std::function<Batch()>& next_batch, const TrainingOptions& options,
           Where where = Where::current());

}  // namespace segue
