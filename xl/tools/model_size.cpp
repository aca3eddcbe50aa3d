#include "xl/tools/model_size.hpp"

#include <limits>

#include "tensor/fail.hpp"

namespace segue {
namespace {

template <class Number>
Number sum_of_parameters(const Config& c) {
  const auto number = [](Index n) { return static_cast<Number>(n); };
  const Number D = number(c.width), F = number(c.feed_forward_width), V = number(c.vocabulary);
  const Number heads = number(c.heads) * number(c.head_width);
  const Number attention = 5 * D * heads;         // W_q, W_k,E, W_k,R, W_v, W_o
  const Number feed_forward = 2 * D * F + F + D;  // two layers with biases
  const Number norms = 4 * D;                     // two, each with gain and bias
  const Number tables =
      (c.tie_weights ? 1 : 2) * V * D + V;  // embedding, output weight and output bias
  // u and v are shared by the layers.
  return tables + 2 * heads + number(c.layers) * (attention + feed_forward + norms);
}

double as_number(Index n) { return static_cast<double>(n); }

void check_step(const Config& c, Index B, Where where) {
  check(c, where);
  if (B < 1) fail<ValueError>(where, "model size: a step needs at least 1 row, got {}", B);
}

// Of a forward pass that scores S pairs of a query and a key, with the config's T and M.
double products_with(const Config& c, Index rows, double S) {
  const double B = as_number(rows), D = as_number(c.width), F = as_number(c.feed_forward_width);
  const double T = as_number(c.segment_length), K = T + as_number(c.memory_length);
  const double heads = as_number(c.heads * c.head_width);
  const double projections = 2 * B * T * D * heads + 2 * B * K * D * heads + K * D * heads;
  const double layer = projections + 3 * B * S * heads + 2 * B * T * D * F;
  return as_number(c.layers) * layer + B * T * D * as_number(c.vocabulary);
}

}  // namespace

Index parameter_count(const Config& c, Where where) {
  check(c, where);
  const double about = sum_of_parameters<double>(c);  // cannot overflow
  if (about < 0.999 * static_cast<double>(std::numeric_limits<Index>::max()))
    return sum_of_parameters<Index>(c);
  fail<ValueError>(where, "model size: about {:.1e} parameters are more than can be counted",
                   about);
}

double forward_products(const Config& config, Index B, Index T, Index M, Where where) {
  Config c = config;
  c.segment_length = T;
  c.memory_length = M;
  c.same_length = false;
  check_step(c, B, where);
  return products_with(c, B, as_number(T) * as_number(M) + as_number(T) * (as_number(T) + 1) / 2);
}

double backward_products(const Config& c, Index B, Where where) {
  const double forward = forward_products(c, B, c.segment_length, c.memory_length, where);
  const double M = as_number(c.memory_length), K = M + as_number(c.segment_length);
  const double needless =
      (2 * as_number(B) * M + K) * as_number(c.width) * as_number(c.heads * c.head_width);
  return 2 * forward - as_number(c.layers) * needless;
}

double training_flops(const Config& c, Index batch, Where where) {
  check_step(c, batch, where);
  return 6 *
         products_with(c, batch,
                       as_number(c.segment_length) * as_number(c.segment_length + c.memory_length));
}

}  // namespace segue
