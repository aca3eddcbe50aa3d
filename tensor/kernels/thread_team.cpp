// Threads start once, at first need, and wait between tasks: first spinning for a moment, since the
// next task of a training step usually comes within microseconds, then asleep. Starting a thread
// for each task would take longer than most tasks.
#include "tensor/kernels/thread_team.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "tensor/kernels/free_blocks.hpp"

namespace segue {
namespace {

// A task is cut into as many equal ranges as there are threads; range r always belongs to thread r,
// the caller being 0.
struct Task {
  const std::function<void(Index, Index)>* body = nullptr;
  Index n = 0;
  Index ranges = 0;

  Index start(Index r) const { return n / ranges * r + std::min(r, n % ranges); }
  void run_range(Index r) const { (*body)(start(r), start(r + 1)); }
};

thread_local bool inside_parallel_for = false;

// Threads that start once, at first need, and wait between tasks: first spinning for a moment,
// since the next task of a training step usually comes within microseconds, then asleep.
class Team {
 public:
  ~Team() { resize(0); }

  int size() const { return static_cast<int>(workers_.size()); }

  void resize(int workers) {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      ++generation_;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
    stopping_ = false;
    workers_.reserve(static_cast<std::size_t>(workers));
    for (int w = 0; w < workers; ++w) {
      workers_.emplace_back([this, w, seen = generation_.load()] { work(w + 1, seen); });
    }
  }

  void run(const Task& task) {
    task_ = task;
    error_ = nullptr;
    unfinished_ = size();
    {
      const std::lock_guard lock(mutex_);
      ++generation_;
    }
    if (asleep_ > 0) wake_.notify_all();
    run_guarded(0);
    for (int spin = 0; unfinished_.load(std::memory_order_acquire) != 0; ++spin) {
      if (spin > spins) std::this_thread::yield();
    }
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void run_guarded(Index range) {
    inside_parallel_for = true;
    try {
      task_.run_range(range);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
    inside_parallel_for = false;
  }

  // Every worker answers every task, also one that has fewer ranges than there are workers: so none
  // can be late for it.
  void work(Index number, std::uint64_t seen) {
    keep_blocks_on_this_thread();
    while (true) {
      wait_for_task(seen);
      seen = generation_.load(std::memory_order_acquire);
      if (stopping_) return;
      if (number < task_.ranges) run_guarded(number);
      unfinished_.fetch_sub(1, std::memory_order_release);
    }
  }

  void wait_for_task(std::uint64_t seen) {
    for (int spin = 0; spin < spins; ++spin) {
      if (generation_.load(std::memory_order_acquire) != seen) return;
    }
    std::unique_lock lock(mutex_);
    ++asleep_;
    wake_.wait(lock, [&] { return generation_ != seen; });
    --asleep_;
  }

  static constexpr int spins = 50000;  // some 50 microseconds
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<std::uint64_t> generation_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> asleep_ = 0;
  Task task_;
  std::atomic<Index> unfinished_ = 0;
  std::exception_ptr error_;
};

// The team of this process, and whether somebody has a task for it.
struct TheTeam {
  ~TheTeam() { delete team; }
  Team* team = nullptr;
  std::atomic<bool> busy = false;
};
TheTeam& the_team() {
  static TheTeam instance;
  return instance;
}

// A child process has a copy of the team but none of its threads: it forgets them and makes its
// own.
void forget_team() {
  the_team().team = nullptr;
  the_team().busy = false;
}

std::atomic<std::uint64_t> tasks = 0;

// False when there cannot be so many threads.
bool make_team(int count) {
  try {
    Team*& team = the_team().team;
    if (team == nullptr) {
      team = new Team;
      pthread_atfork(nullptr, nullptr, forget_team);
    }
    if (team->size() != count - 1) team->resize(count - 1);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

bool run_on_team(int count, Index n, Index ranges, const std::function<void(Index, Index)>& body) {
  std::atomic<bool>& busy = the_team().busy;
  if (inside_parallel_for || busy.exchange(true)) return false;
  struct Done {
    ~Done() { busy = false; }
    std::atomic<bool>& busy;
  } done{busy};
  if (!make_team(count)) return false;
  ++tasks;
  the_team().team->run({&body, n, ranges});
  return true;
}

std::uint64_t shared_tasks() { return tasks; }

}  // namespace segue
