// Adam's update of all parameters at once, shared out among the threads.
//
// A model has a few large parameters and many small ones. Taken one after the other, the small ones
// are too little work to wake a thread for. So they are cut up as if they lay end to end: every
// thread gets a stretch of equal length, wherever parameters begin and end in it.
#pragma once

#include <vector>

#include "tensor/tensor.hpp"

namespace segue {

/// The numbers in Adam's formula that are the same for all elements of a parameter.
struct AdamFactors {
  Real b1, b2, correction1, correction2, tiny, decay, learning_rate;
};

/// What the update of one parameter reads and writes: its value, its moments, its gradient.
struct AdamUpdate {
  Tensor gradient;  // contiguous
  Real *x, *m, *v;
  AdamFactors factors;
};
using AdamUpdates = std::vector<AdamUpdate, BlockAllocator<AdamUpdate>>;

/// Calls formula(update, begin, end) for stretches that cover the elements of every parameter once.
void share_adam_updates(const AdamUpdates& updates,
                        void (*formula)(const AdamUpdate& update, Index begin, Index end));

}  // namespace segue
