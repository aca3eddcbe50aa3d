#include "xl/tools/prediction_costs.hpp"

#include "xl/tools/model_size.hpp"

namespace segue {
namespace {

double as_real(Index n) { return static_cast<double>(n); }

// A training step counts additions, too, and is a forward pass and twice as much for backward.
double forward_multiplications(Config config, Index T, Index M, Where where) {
  config.segment_length = T;
  config.memory_length = M;
  config.same_length = false;  // hides scores, and saves none
  return training_flops(config, 1, where) / 6;
}

// N H Dh: how many numbers a state has as a query, key or value, in all layers.
double numbers_of_heads(const Config& c) { return as_real(c.layers) * as_real(c.heads) * as_real(c.head_width); }

}  // namespace

double window_multiplications(const Config& config, Index W, Where where) {
  return forward_multiplications(config, W, 0, where);
}

double absolute_window_multiplications(const Config& config, Index W, Where where) {
  const double distances = as_real(W) * as_real(config.width), scores = as_real(W) * as_real(W);  // W_k,R; (b) + (d)
  return window_multiplications(config, W, where) - numbers_of_heads(config) * (distances + scores);
}

double memory_multiplications(const Config& config, Index T, Index M, Where where) {
  return forward_multiplications(config, T, M, where) / as_real(T);
}

double kept_keys_multiplications(const Config& config, Index T, Index M, Where where) {
  const double again = 2 * as_real(M) * as_real(config.width) * numbers_of_heads(config);  // W_k,E and W_v
  return memory_multiplications(config, T, M, where) - again / as_real(T);
}

}  // namespace segue
