// Adam, and the clipping that goes before its step.
#pragma once

#include "nn/parameters.hpp"

namespace segue {

struct AdamOptions {
  Real beta1 = Real(0.9), beta2 = Real(0.999), epsilon = Real(1e-8);
  Real weight_decay =
      0;  // decoupled from the gradient (AdamW, Loshchilov and Hutter 2019); 0 is plain Adam
};

/// Adam (Kingma and Ba 2015, algorithm 1) and AdamW. A parameter that is handed in twice is updated
/// once. The bias correction of a parameter counts the steps that found a gradient of it: the first
/// of them has t = 1, however late it comes.
struct Adam {
  explicit Adam(std::vector<Parameter> parameters, AdamOptions options = {},
                Where where = Where::current());
  /// Updates every parameter that has a gradient. Throws ValueError unless the learning rate is
  /// finite and not below 0; an error leaves parameters and optimiser as they were.
  void step(Real learning_rate, Where where = Where::current());

  std::vector<Parameter> parameters;
  AdamOptions options;
  Index steps = 0;  // taken so far
  std::vector<Tensor> first_moment, second_moment;
  std::vector<Index> missed;  // for each parameter, how many of the steps found no gradient of it
};

struct [[nodiscard]] Clipping {
  double norm;  // Euclidean norm of all gradients together, before clipping
  bool finite;  // false: there is a NaN or infinity, nothing was changed, and the step must be
                // skipped
};
/// Scales the gradients down so that their norm is at most `limit`. Throws ValueError unless limit
/// > 0.
Clipping clip_gradients(const std::vector<Parameter>& parameters, Real limit,
                        Where where = Where::current());

}  // namespace segue
