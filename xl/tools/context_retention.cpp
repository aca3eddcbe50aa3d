#include "xl/tools/context_retention.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "tensor/fail.hpp"

namespace segue {
namespace {

void check_retention(const Decay& decay, const Segmentation& segmentation, Index positions,
                     Where where) {
  constexpr Index most =
      Index(1) << 24;  // beyond all use, and a table of weights still fits in memory
  const Index T = segmentation.segment_length, M = segmentation.memory_length;
  if (T < 1 || T > most || M < 0 || M > most || positions < 1 || positions > most) {
    fail<ValueError>(
        where,
        "context retention: expected a segment and positions of 1 .. {} and a memory of 0 .. {}, "
        "got segment {}, positions {}, memory {}",
        most, most, T, positions, M);
  }
  if (!(decay.half_distance > 0) || !std::isfinite(decay.half_distance)) {
    fail<ValueError>(where,
                     "context retention: the half distance must be a finite number above 0, got {}",
                     decay.half_distance);
  }
}

// psi(x + n) - psi(x) = 1/x + 1/(x + 1) + .. + 1/(x + n - 1), without adding up n terms.
double digamma_difference(double x, double n) {
  double sum = 0;
  for (; x < 16 && n > 0; ++x, --n) sum += 1 / x;
  // Stirling's series for psi(y) - ln y; from y = 16 on its terms fall below 1e-16.
  const auto series = [](double y) {
    const double z = 1 / (y * y);
    return -1 / (2 * y) -
           z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z / 132))));
  };
  return n > 0 ? sum + std::log1p(n / x) + (series(x + n) - series(x)) : sum;
}

// beyond(first) + beyond(first + 1) + .. of `count` terms.
double sum_beyond(const Decay& decay, Index first, Index count) {
  if (count == 0) return 0;
  const double h = decay.half_distance, a = static_cast<double>(first),
               n = static_cast<double>(count);
  if (decay.decline == Decline::power) return h * digamma_difference(h + a, n);
  const double rate = std::numbers::ln2 / h;  // q = e^-rate; q^a (1 - q^n) / (1 - q)
  return std::exp2(-a / h) * (std::expm1(-rate * n) / std::expm1(-rate));
}

}  // namespace

double Decay::at(Index d) const {
  const double h = half_distance, distance = static_cast<double>(d);
  if (decline == Decline::power) return h / (h + distance) / (h + distance + 1);
  return -std::expm1(-std::numbers::ln2 / h) * std::exp2(-distance / h);
}

double Decay::beyond(Index n) const {
  const double h = half_distance, distance = static_cast<double>(n);
  return decline == Decline::power ? h / (h + distance) : std::exp2(-distance / h);
}

Segmentation cut_segments(Index W) { return {W, 0}; }

Segmentation sliding_window(Index W) { return {1, W - 1}; }

std::vector<double> retention_by_position(const Decay& decay, const Segmentation& segmentation,
                                          Index positions, Where where) {
  check_retention(decay, segmentation, positions, where);
  std::vector<double> weights(static_cast<std::size_t>(
      segmentation.memory_length + std::min(segmentation.segment_length, positions)));
  for (std::size_t d = 0; d < weights.size(); ++d) weights[d] = decay.at(static_cast<Index>(d));
  std::vector<double> shares;
  for (Index t = 0; t < positions; ++t) {
    const Index first = t - t % segmentation.segment_length -
                        segmentation.memory_length;  // the first key that t sees
    double share = 0;
    for (Index j = first; j <= t; ++j) share += weights[static_cast<std::size_t>(t - j)];
    shares.push_back(share);
  }
  return shares;
}

double summed_retention(const Decay& decay, const Segmentation& segmentation, Index positions,
                        Where where) {
  const std::vector<double> shares = retention_by_position(decay, segmentation, positions, where);
  return std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(positions);
}

double closed_retention(const Decay& decay, const Segmentation& segmentation, Index positions,
                        Where where) {
  check_retention(decay, segmentation, positions, where);
  const Index T = segmentation.segment_length, M = segmentation.memory_length;
  const double lost =
      static_cast<double>(positions / T) * sum_beyond(decay, M + 1, T) +
      sum_beyond(decay, M + 1, positions % T);  // whole segments, and the beginning of one more
  return 1 - lost / static_cast<double>(positions);
}

}  // namespace segue
