// One loop over many indices, shared among threads.
//
// What threads may do at the same time: read the same tensors and run the same models forward, each
// with tensors and graphs of its own. What they may not: write into a tensor that another one
// reads, or run backward through parameters that another one uses, since gradients are added up in
// place. Guards (NoGradientGuard, FiniteGradientGuard) hold for the thread that made them;
// PlainGuard and set_thread_count hold for the whole program.
#pragma once

#include <atomic>
#include <functional>

#include "tensor/error.hpp"
#include "tensor/real.hpp"

namespace segue {

/// How many threads parallel_for uses, the caller's included; at first the machine's number.
int thread_count();
/// Throws ValueError unless 1 <= count <= 256.
void set_thread_count(int count, Where where = Where::current());

/// Divides every grain. Tests raise it, so that several threads share even what is small.
inline std::atomic<Index> grain_divisor = 1;

void share_among_threads(Index n, Index grain,
                         const std::function<void(Index begin, Index end)>& body);

/// Calls body(begin, end) for ranges that cover 0 .. n-1 once each, on several threads when
/// n >= 2 * grain, and returns when all are done. `body` must give the same result for an index
/// whatever range it comes in: so results keep their bits for any number of threads. The first
/// exception is thrown again in the caller. A parallel_for inside a body, or one that finds the
/// threads busy with another, runs on the thread it is called from, and so does every one when ops
/// run plain.
template <class Body>
void parallel_for(Index n, Index grain, const Body& body) {
  if (n <= 0) return;
  const Index least = grain / grain_divisor;
  if (n / 2 < least) return body(0, n);  // a small task costs no more than its loop
  share_among_threads(n, least, std::ref(body));
}

}  // namespace segue
