#include "xl/tools/model_size.hpp"

namespace segue {

Index parameter_count(const Config& c) {
  const Index D = c.width, F = c.feed_forward_width, heads = c.heads * c.head_width, V = c.vocabulary;
  const Index attention = 5 * D * heads;                     // W_q, W_k,E, W_k,R, W_v, W_o
  const Index feed_forward = 2 * D * F + F + D;              // two layers with biases
  const Index norms = 4 * D;                                 // two, each with gain and bias
  const Index tables = (c.tie_weights ? 1 : 2) * V * D + V;  // embedding, output weight and output bias
  return tables + 2 * heads + c.layers * (attention + feed_forward + norms);  // u and v are shared by the layers
}

double training_flops(const Config& c, Index batch) {
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
