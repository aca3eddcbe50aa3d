// Gradient checkpointing (Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost"): bytes
// for seconds.
#pragma once

#include <functional>

#include "autograd/variable.hpp"
#include "tensor/random.hpp"

namespace segue {

/// z = f(inputs), of which the graph keeps the inputs and z and nothing in between: backward
/// computes f once more, with the numbers that `random` gave the first time, and walks through
/// that. Gradients have the same bits, but where a variable is used both inside and outside f:
/// there the order of a sum may differ. What f uses beside its inputs may be leaves, such as
/// parameters, and must live until backward; any other variable that needs a gradient is a
/// GraphError, for its own gradient would be lost. In backward it is a GraphError when f does not
/// give z again.
Variable recompute(const std::function<Variable(const std::vector<Variable>&)>& f,
                   const std::vector<Variable>& inputs, Random* random = nullptr,
                   Where where = Where::current());

}  // namespace segue
