#include "tensor/tools/peak.hpp"

#include <algorithm>
#include <chrono>

#include "tensor/kernels/simd.hpp"

namespace segue {
namespace {

// As many sums as it takes to keep two multiply-add units busy while each waits for its last
// result, and no more than fit into 16 registers beside a and b.
constexpr int chains = 12;

// Every sum moves towards b / (1 - a) = 2: no number ever becomes so small or large that the
// machine would slow down. None begins there: it would stay, and a compiler that sees this does not
// compute it.
Real burst(Index turns) {
  Vector sums[chains] = {};
  Vector a = {}, b = {};
  a += Real(0.5);
  b += Real(1);
#pragma GCC unroll 16
  for (int s = 0; s < chains; ++s) sums[s] += static_cast<Real>(3 + s);
  for (Index turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 16
    for (int s = 0; s < chains; ++s) sums[s] = sums[s] * a + b;
  }
#pragma GCC unroll 16
  for (int s = 1; s < chains; ++s) sums[0] += sums[s];
  return sums[0][0];
}

}  // namespace

double peak_multiply_adds() {
  constexpr Index turns = 200000;
  double best = 0;
  volatile Real kept = 0;  // so that the sums are asked for
  for (int repeat = 0; repeat < 20; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    kept = burst(turns);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::max(best, static_cast<double>(turns * chains * vector_width) / time.count());
  }
  static_cast<void>(kept);
  return best;
}

}  // namespace segue
