#include "xl/tools/prediction_costs.hpp"

#include "xl/tools/model_size.hpp"

namespace segue {
namespace {

double as_real(Index n) { return static_cast<double>(n); }

// N H Dh: how many numbers a state has as a query, key or value, in all layers.
double numbers_of_heads(const Config& c) { return as_real(c.layers) * as_real(c.heads) * as_real(c.head_width); }

// A forward pass over T tokens after a memory of M, without the scores of keys that are hidden. A training step counts
// additions, too, is a forward pass and twice as much for backward, and is counted with all scores.
double forward_multiplications(Config config, Index T, Index M, Where where) {
  config.segment_length = T;
  config.memory_length = M;
  config.same_length = false;
  const double all = training_flops(config, 1, where) / 6;
  const double hidden = as_real(T) * (as_real(T) - 1) / 2;  // query i sees none of the T - 1 - i keys behind it
  return all - 3 * numbers_of_heads(config) * hidden;
}

}  // namespace

double window_multiplications(const Config& config, Index W, Where where) {
  return forward_multiplications(config, W, 0, where);
}

double absolute_window_multiplications(const Config& config, Index W, Where where) {
  const double window = window_multiplications(config, W, where);
  const double distances = as_real(W) * as_real(config.width);  // W_k,R
  const double scores = as_real(W) * (as_real(W) + 1) / 2;      // (b) + (d)
  return window - numbers_of_heads(config) * (distances + scores);
}

double memory_multiplications(const Config& config, Index T, Index M, Where where) {
  const double anew = uncached_memory_multiplications(config, T, M, where);
  const double known = 2 * as_real(M);               // keys and values of the memory
  const double distances = as_real(M) + as_real(T);  // none is new
  return anew - (known + distances) / as_real(T) * as_real(config.width) * numbers_of_heads(config);
}

double uncached_memory_multiplications(const Config& config, Index T, Index M, Where where) {
  return forward_multiplications(config, T, M, where) / as_real(T);
}

}  // namespace segue
