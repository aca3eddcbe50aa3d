#include "examples/support/step_bytes.hpp"

#include "tensor/storage.hpp"
#include "xl/kernels/kept_sinusoids.hpp"
#include "xl/tools/model_size.hpp"

namespace segue {

double counted_step_bytes(const Config& c, Index rows) {
  const auto number = [](Index n) { return static_cast<double>(n); };
  const double B = number(rows), T = number(c.segment_length), M = number(c.memory_length), K = M + T;
  const double D = number(c.width), H = number(c.heads), heads = H * number(c.head_width);
  const double F = number(c.feed_forward_width), V = number(c.vocabulary);
  const double outside = 4 * number(parameter_count(c)) + 2 * B * T * D + 2 * B * T * V + 3 * B * T + 2;
  const double memory = 2 * B * M * D;
  const double keys = 2 * B * M * heads + 2 * B * T * heads + 2 * B * K * heads + 2 * K * heads;
  const double attention = 2 * B * T * heads + 3 * B * T * D + 2 * B * H * T;
  const double feed_forward = B * T * F + 4 * B * T * D;
  const double layer = memory + keys + attention + feed_forward + 4 * B * T;
  return sizeof(Real) * (outside + number(c.layers) * layer);
}

WeighedTraining weigh(const Config& config, Index B) {
  // The last table of sinusoids is kept by the library. If it were another one, it would be let go while we count.
  kept_sinusoids(config.memory_length + config.segment_length, config.clamp_length, config.width);
  const std::size_t before = tensor_bytes();
  const auto training = std::make_shared<RandomTraining>(config, B, Random(1));
  training->step();
  reset_peak_tensor_bytes();
  training->step();
  return {training, static_cast<double>(peak_tensor_bytes() - before)};
}

}  // namespace segue
