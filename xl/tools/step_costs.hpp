// What training steps cost in time and in memory.
#pragma once

#include <functional>
#include <vector>

#include "xl/training.hpp"

namespace segue {

struct StepCost {
  double milliseconds;  // forward, backward and update
  std::int64_t
      nodes;  // of the graph, alive after the step: the memory and whatever still hangs on it
  std::size_t bytes;       // that these hold
  std::size_t peak_bytes;  // the most held during the step
};

/// Trains for `steps` steps on segments of B rows, from an empty memory and with learning rate 0,
/// so that the weights stay as they are; their gradients are cleared. Nodes and bytes that were
/// there before do not count, nor does the optimiser. Throws what `train` throws.
std::vector<StepCost> step_costs(LanguageModel& model, const std::function<Batch()>& next_batch,
                                 Index B, Index steps, Where where = Where::current());

}  // namespace segue
