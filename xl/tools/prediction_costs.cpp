#include "xl/tools/prediction_costs.hpp"

#include "xl/tools/model_size.hpp"

namespace segue {
namespace {

double as_real(Index n) { return static_cast<double>(n); }

// N H Dh: how many numbers a state has as a query, key or value, in all layers.
double numbers_of_heads(const Config& c) {
  return as_real(c.layers) * as_real(c.heads) * as_real(c.head_width);
}

}  // namespace

double window_multiplications(const Config& config, Index W, Where where) {
  return forward_products(config, 1, W, 0, where);
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
  return forward_products(config, 1, T, M, where) / as_real(T);
}

}  // namespace segue
