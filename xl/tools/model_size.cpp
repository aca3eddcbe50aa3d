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
  const Number attention = 5 * D * heads;                     // W_q, W_k,E, W_k,R, W_v, W_o
  const Number feed_forward = 2 * D * F + F + D;              // two layers with biases
  const Number norms = 4 * D;                                 // two, each with gain and bias
  const Number tables = (c.tie_weights ? 1 : 2) * V * D + V;  // embedding, output weight and output bias
  // u and v are shared by the layers.
  return tables + 2 * heads + number(c.layers) * (attention + feed_forward + norms);
}

}  // namespace

Index parameter_count(const Config& c, Where where) {
  check(c, where);
  const double about = sum_of_parameters<double>(c);  // cannot overflow
  if (about < 0.999 * static_cast<double>(std::numeric_limits<Index>::max())) return sum_of_parameters<Index>(c);
  fail<ValueError>(where, "model size: about {:.1e} parameters are more than can be counted", about);
}

double training_flops(const Config& c, Index batch, Where where) {
  check(c, where);
  if (batch < 1) fail<ValueError>(where, "model size: a step needs at least 1 row, got {}", batch);
  const auto real = [](Index n) { return static_cast<double>(n); };
  const double D = real(c.width), F = real(c.feed_forward_width), heads = real(c.heads * c.head_width);
  const double T = real(c.segment_length), K = T + real(c.memory_length), B = real(batch);
  const double queries_and_outputs = 2 * B * T * D * heads;  // W_q, W_o: for the segment only
  const double keys_and_values = 2 * B * K * D * heads;      // W_k,E, W_v: for memory and segment
  const double distances = K * D * heads;                    // W_k,R: one for all rows
  const double scores = 3 * B * T * K * heads;               // (a) + (c), (b) + (d), and the weighted values
  const double feed_forward = 2 * B * T * D * F;
  const double layer = queries_and_outputs + keys_and_values + distances + scores + feed_forward;
  const double output = B * T * D * real(c.vocabulary);
  return 3 * 2 * (real(c.layers) * layer + output);
}

}  // namespace segue
