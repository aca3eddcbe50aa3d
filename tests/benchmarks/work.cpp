#include "tests/benchmarks/work.hpp"

namespace segue {
namespace {

double number(Index n) { return static_cast<double>(n); }

}  // namespace

double forward_products(const Config& c, Index rows, Index length, Index memory) {
  const double D = number(c.width), heads = number(c.heads * c.head_width), F = number(c.feed_forward_width);
  const double B = number(rows), T = number(length), M = number(memory), K = M + T;
  const double S = T * M + T * (T + 1) / 2;
  const double projections = 2 * B * T * D * heads + 2 * B * K * D * heads + K * D * heads;
  const double layer = projections + 3 * B * S * heads + 2 * B * T * D * F;
  return number(c.layers) * layer + B * T * D * number(c.vocabulary);
}

double backward_products(const Config& c, Index rows) {
  const double D = number(c.width), heads = number(c.heads * c.head_width);
  const double B = number(rows), M = number(c.memory_length), K = M + number(c.segment_length);
  const double needless = 2 * B * M * D * heads + K * D * heads;
  return 2 * forward_products(c, rows, c.segment_length, c.memory_length) - number(c.layers) * needless;
}

}  // namespace segue
