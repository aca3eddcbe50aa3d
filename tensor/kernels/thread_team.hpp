// The threads behind parallel_for.
#pragma once

#include <cstdint>
#include <functional>

#include "tensor/real.hpp"

namespace segue {

/// Calls body(begin, end) for `ranges` ranges of equal length that cover 0 .. n-1, on as many of
/// `count` threads, the caller's included, and returns when all are done. False, and nothing is
/// done, when the caller is one of the threads already, when they are busy, or when there can be no
/// more threads. Throws the first exception of a body.
bool run_on_team(int count, Index n, Index ranges,
                 const std::function<void(Index begin, Index end)>& body);

/// How many tasks more than one thread has worked on so far.
std::uint64_t shared_tasks();

}  // namespace segue
