#include "tests/benchmarks/measure.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <exception>
#include <span>

#include "examples/support/clock.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/resident.hpp"
#include "tensor/error.hpp"
#include "tensor/parallel.hpp"
#include "tensor/storage.hpp"

namespace segue {
namespace {

struct Time {
  double wall, cpu;  // milliseconds
};
Time time_of(const std::function<void()>& call, Index calls) {
  const double cpu_start = processor_seconds(), start = wall_seconds();
  for (Index i = 0; i < calls; ++i) call();
  const double to_milliseconds = 1000 / static_cast<double>(calls);
  return {(wall_seconds() - start) * to_milliseconds, (processor_seconds() - cpu_start) * to_milliseconds};
}

// Peak, resident bytes, and both times of each run.
std::vector<double> run_case(const Case& c, int threads, Index runs) {
  constexpr double shortest_run = 2, shortest_warm_up = 100;  // milliseconds
  const std::size_t bytes_before = tensor_bytes();            // the caller's
  set_thread_count(threads);
  const std::function<void()> call = c.prepare();
  double estimate = 0, warm = 0;
  for (int warm_up = 0; (warm_up < 3 || warm < shortest_warm_up) && !interrupted(); ++warm_up) {
    estimate = time_of(call, 1).wall;
    warm += estimate;
  }
  const auto calls = static_cast<Index>(std::clamp(std::ceil(shortest_run / estimate), 1.0, 1e6));

  reset_peak_tensor_bytes();
  std::vector<double> result(2);
  for (Index run = 0; run < runs && !interrupted(); ++run) {
    const Time time = time_of(call, calls);
    result.push_back(time.wall / c.parts);
    result.push_back(time.cpu / c.parts);
  }
  result[0] = static_cast<double>(peak_tensor_bytes() - bytes_before);
  result[1] = static_cast<double>(resident_bytes());
  return result;
}

// The whole of it or nothing: read and write may do less at a time than they are asked for.
bool write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = write(file, bytes.data(), bytes.size());
    if (done < 0 && errno != EINTR) return false;
    if (done > 0) bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return true;
}
std::vector<double> read_all(int file) {
  std::vector<std::byte> bytes;
  std::byte some[4096];
  for (ssize_t done = 1; done != 0;) {
    done = read(file, some, sizeof some);
    if (done < 0 && errno != EINTR) break;
    if (done > 0) bytes.insert(bytes.end(), some, some + done);
  }
  std::vector<double> values(bytes.size() / sizeof(double));
  std::copy_n(bytes.begin(), values.size() * sizeof(double), std::as_writable_bytes(std::span(values)).begin());
  return values;
}

// What the child does; it must not return into its parent's code, nor print what the parent has in its buffers.
[[noreturn]] void be_child(const std::function<std::vector<double>()>& f, int out) {
  int status = 1;
  try {
    const std::vector<double> values = f();
    if (write_all(out, std::as_bytes(std::span(values)))) status = 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
  }
  std::fflush(stderr);
  _exit(status);
}

}  // namespace

std::vector<double> in_child_process(const std::function<std::vector<double>()>& f) {
  int ends[2];
  if (pipe(ends) != 0) throw Error("benchmark: the system gives no pipe");
  const pid_t child = fork();
  if (child < 0) throw Error("benchmark: the system starts no process");
  if (child == 0) be_child(f, ends[1]);
  close(ends[1]);
  const std::vector<double> values = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (status != 0) throw Error("benchmark: the process of a case has failed");
  return values;
}

Visit visit(const Case& c, int threads, Index runs) {
  const std::vector<double> values = in_child_process([&] { return run_case(c, threads, runs); });
  Visit seen = {{}, {}, values[0], values[1]};
  for (std::size_t i = 2; i < values.size(); i += 2) {
    seen.milliseconds.push_back(values[i]);
    seen.cpu_milliseconds.push_back(values[i + 1]);
  }
  return seen;
}

}  // namespace segue
