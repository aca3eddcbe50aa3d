// The numbers that a training step holds when forward is done and backward begins, for a model as Config has it:
// post-norm, tied embeddings, no dropout. With D' = H Dh and P parameters, outside the layers
//
//   weights, gradients, Adam's two moments   4 P
//   embeddings, as they are and scaled       2 B T D
//   logits, without bias and with            2 B T V
//   losses                                   3 B T + 2     largest logits and sums of exponentials; sum and mean
//
// and in each layer
//
//   memory, the old and the new              2 B M D
//   keys and values of the memory            2 B M D'
//   those of the segment                     2 B T D'
//   both as one                              2 B K D'
//   r, and transposed                        2 K D'
//   q, what attention reads                  2 B T D'
//   its output                               3 B T D       projected, plus input, normalised
//   scores                                   2 B H T       largest scores and sums; attention keeps no scores
//   feed-forward inside                      B T F         behind relu
//   its output                               4 B T D       without bias, with, plus input, normalised
//   layer norms                              4 B T         mean and 1 / deviation of each
//
// For D' = D and F = 4 D a token of the segment has 17 D numbers in each layer, and one of the memory 6 D. The table R
// of sinusoids is not counted, since the library keeps it from step to step.
#pragma once

#include <memory>

#include "examples/support/random_training.hpp"

namespace segue {

/// That many numbers, in bytes.
double counted_step_bytes(const Config& config, Index B);

struct WeighedTraining {
  std::shared_ptr<RandomTraining> training;
  double peak_bytes;  // the most that its weights, gradients, optimiser, memory and graph have held at one time
};
/// A training that has been weighed in its second step, which is like all that follow.
WeighedTraining weigh(const Config& config, Index B);

}  // namespace segue
