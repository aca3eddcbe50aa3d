// One case, run some times in a process of its own.
#pragma once

#include <functional>
#include <vector>

#include "tensor/real.hpp"
#include "tests/benchmarks/case.hpp"

namespace segue {

struct Visit {
  std::vector<double> milliseconds;      // of each run
  std::vector<double> cpu_milliseconds;  // the same, of all threads together; other programs do not make it longer
  double peak_tensor_bytes = 0;          // the most that tensors held during the runs: model, optimiser, graph
  double resident_bytes = 0;             // of the process, behind the last run
};

/// Prepares the case, runs it for a moment unmeasured, so that memories and caches are full and every thread has found
/// a core of its own, and then `runs` times. Runs that would be too short for the clock are several calls each, and
/// their time is shared out. All of it happens in a child process: so no case finds the blocks, threads or caches that
/// another has left, and its memory is its own. Ctrl-C ends it with the runs done so far. Throws Error when the child
/// fails. The caller must not have used a parallel_for before: a fork would not take its threads along.
Visit visit(const Case& c, int threads, Index runs);

/// Calls f in a child process and gives what it returned. Throws Error when the child ends in any other way.
std::vector<double> in_child_process(const std::function<std::vector<double>()>& f);

}  // namespace segue
