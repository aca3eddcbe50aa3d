// Adam, and the clipping that goes before its step: plain loops over plain arrays, one update a
// parameter and step.
#pragma once

#include "nn/parameters.hpp"

namespace segue {

struct AdamOptions {
  Real beta1 = Real(0.9), beta2 = Real(0.999), epsilon = Real(1e-8);
  Real weight_decay =
      0;  // decoupled from the gradient (AdamW, Loshchilov and Hutter 2019); 0 is plain Adam
};

/// Adam (Kingma and Ba 2015, algorithm 1) and AdamW. A parameter that is handed in twice is updated
/// once. The bias correction counts the steps of all parameters together.
struct Adam {
  explicit Adam(std::vector<Parameter> parameters, AdamOptions options = {},
                Where where = Where::current());
  void step(Real learning_rate);

  std::vector<Parameter> parameters;
  AdamOptions options;
  Index steps = 0;  // taken so far; the first update has t = 1
  std::vector<Tensor> first_moment, second_moment;
};

struct Clipping {
  double norm;  // Euclidean norm of all gradients together, before clipping
  bool finite;  // false: there is a NaN or infinity, nothing was changed, and the step must be
                // skipped
};
/// Scales the gradients down so that their norm is at most `limit`. Throws ValueError unless limit
/// > 0.
Clipping clip_gradients(const std::vector<Parameter>& parameters, Real limit,
                        Where where = Where::current());

}  // namespace segue
