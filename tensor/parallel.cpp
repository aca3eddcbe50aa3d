#include "tensor/parallel.hpp"

#include <algorithm>
#include <thread>

#include "tensor/fail.hpp"
#include "tensor/kernels/thread_team.hpp"
#include "tensor/plain.hpp"

namespace segue {
namespace {

std::atomic<int> threads =
    static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 256U));

}  // namespace

int thread_count() { return threads; }

void set_thread_count(int count, Where where) {
  if (count < 1 || count > 256) fail<ValueError>(where, "{} threads: 1 to 256 are possible", count);
  threads = count;
}

void share_among_threads(Index n, Index grain, const std::function<void(Index, Index)>& body) {
  const int count = threads;  // read once: another thread may change it
  const Index ranges = std::min<Index>(count, n / std::max<Index>(grain, 1));
  if (ranges < 2 || plain() || !run_on_team(count, n, ranges, body)) body(0, n);
}

}  // namespace segue
