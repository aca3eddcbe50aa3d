// Training steps on random tokens, for those who measure what a step costs.
#pragma once

#include "xl/model.hpp"
#include "xl/training.hpp"

namespace segue {

/// A new model of `config` behind a full memory of random states, and the same random batch of B rows for every step.
struct RandomTraining {
  RandomTraining(const Config& config, Index B, Random random);

  /// Forward, backward, clipping, Adam, and the memory handed on.
  void step();

  TransformerXL model;
  Adam optimizer;
  TrainingState state;
  TrainingOptions options;
  Batch batch;
};

}  // namespace segue
