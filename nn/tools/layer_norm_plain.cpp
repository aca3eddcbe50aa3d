#include "nn/tools/layer_norm_plain.hpp"

#include "autograd/arithmetic.hpp"
#include "autograd/reductions.hpp"
#include "autograd/tools/functions.hpp"
#include "nn/layer_norm.hpp"

namespace segue {

Variable layer_norm_plain(const Variable& x, const Variable& gain, const Variable& bias) {
  const Variable centered = x - mean(x, {-1}, true);
  const Variable variance = mean(centered * centered, {-1}, true);
  return centered / sqrt(variance + layer_norm_epsilon) * gain + bias;
}

}  // namespace segue
