// Threads: one parallel_for, over index ranges.
#pragma once

#include <functional>

#include "tensor/error.hpp"
#include "tensor/real.hpp"

namespace segue {

/// How many threads parallel_for uses, the caller's included; at first the machine's number.
int thread_count();
/// Throws ValueError unless 1 <= count <= 256.
void set_thread_count(int count, Where where = Where::current());

void share_among_threads(Index n, Index grain,
                         const std::function<void(Index begin, Index end)>& body);

/// Calls body(begin, end) for ranges that cover 0 .. n-1 once each, on several threads when n >= 2
/// * grain, and returns when all are done. `body` must give the same result for an index whatever
/// range it comes in: so results keep their bits for any number of threads. The first exception is
/// thrown again in the caller. A parallel_for inside a body runs on the thread it is called from.
template <class Body>
void parallel_for(Index n, Index grain, const Body& body) {
  if (n > 0 && n / 2 < grain) return body(0, n);  // a small task costs no more than its loop
  share_among_threads(n, grain, std::ref(body));
}

}  // namespace segue
