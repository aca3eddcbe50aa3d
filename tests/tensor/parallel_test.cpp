// Threads: every index once, errors reach the caller, and the same bits for any number of threads.
#include "tensor/parallel.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "tensor/elementwise.hpp"
#include "tensor/indexing.hpp"
#include "tensor/kernels/thread_team.hpp"
#include "tensor/plain.hpp"
#include "tensor/reduce.hpp"
#include "tensor/softmax.hpp"
#include "tensor/tools/functions.hpp"
#include "tests/support/tensors.hpp"

namespace segue::tensor_parallel_test {

namespace {

// How often parallel_for visits each of n indices.
std::vector<int> visits(Index n, Index grain) {
  std::vector<int> counts(static_cast<std::size_t>(n), 0);  // no lock: an index visited twice is a failure anyway
  parallel_for(n, grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) ++counts[static_cast<std::size_t>(i)];
  });
  return counts;
}

Index parallel_sum(Index n) {
  std::atomic<Index> total = 0;
  parallel_for(n, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) total += i;
  });
  return total;
}

}  // namespace

TEST_CASE("every index is visited once, for any number of threads, indices and grain") {
  for (const int count : {1, 2, 5, 8}) {
    const Threads threads(count);
    for (const Index n : {1, 2, 3, 7, 8, 9, 100, 1001}) {
      for (const Index grain : {0, 1, 2, 50, 5000})
        CHECK(visits(n, grain) == std::vector<int>(static_cast<std::size_t>(n), 1));
    }
  }
}

TEST_CASE("no indices, no call") {
  const Threads threads(3);
  int calls = 0;
  parallel_for(0, 1, [&](Index, Index) { ++calls; });
  parallel_for(-5, 1, [&](Index, Index) { ++calls; });
  CHECK(calls == 0);
}

TEST_CASE("less than two grains of work stay on the calling thread in one range") {
  const Threads threads(4);
  int calls = 0;
  parallel_for(199, 100, [&](Index begin, Index end) {
    ++calls;
    CHECK(begin == 0);
    CHECK(end == 199);
  });
  CHECK(calls == 1);
}

TEST_CASE("enough work is done by as many threads as were asked for, the caller among them") {
  const PlainGuard fast(false);
  for (const int count : {1, 2, 5}) {
    const Threads threads(count);
    std::mutex mutex;
    std::set<std::thread::id> ids;
    parallel_for(1000, 1, [&](Index, Index) {
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    });
    CHECK(ids.size() == static_cast<std::size_t>(count));
    CHECK(ids.contains(std::this_thread::get_id()));
  }
}

TEST_CASE("the largest count of indices is cut without overflow") {
  const PlainGuard fast(false);
  const Threads threads(5);
  constexpr Index n = std::numeric_limits<Index>::max();
  std::mutex mutex;
  std::set<std::pair<Index, Index>> ranges;
  parallel_for(n, 1, [&](Index begin, Index end) {
    const std::lock_guard lock(mutex);
    ranges.insert({begin, end});
  });
  REQUIRE(ranges.size() == 5);
  Index next = 0;
  for (const auto& [begin, end] : ranges) {
    CHECK(begin == next);
    CHECK(end - begin >= n / 5);
    next = end;
  }
  CHECK(next == n);
}

TEST_CASE("an exception in any range reaches the caller with its type, and the threads work on") {
  const Threads threads(4);
  for (Index bad = 0; bad < 8; ++bad) {
    const auto body = [&](Index begin, Index end) {
      if (begin <= bad && bad < end) throw RangeError("index " + std::to_string(bad));
    };
    try {
      parallel_for(8, 1, body);
      FAIL_CHECK("nothing was thrown");
    } catch (const RangeError& error) {
      CHECK(error.what() == "index " + std::to_string(bad));
    }
    CHECK(parallel_sum(100) == 4950);
  }
}

TEST_CASE("when every range throws, one exception comes out, after all have ended") {
  const PlainGuard fast(false);
  const Threads threads(5);
  std::atomic<int> started = 0;
  CHECK_THROWS_AS(parallel_for(5, 1,
                               [&](Index, Index) {
                                 ++started;
                                 throw std::runtime_error("stop");
                               }),
                  std::runtime_error);
  CHECK(started == 5);
}

TEST_CASE("a nested parallel_for runs on its own thread and visits everything") {
  const Threads threads(3);
  std::vector<std::vector<int>> counts(6);
  std::atomic<int> strays = 0;
  parallel_for(6, 1, [&](Index begin, Index end) {
    const auto self = std::this_thread::get_id();
    for (Index i = begin; i < end; ++i) {
      counts[static_cast<std::size_t>(i)] = visits(50, 1);
      parallel_for(50, 1, [&](Index, Index) { strays += std::this_thread::get_id() != self; });
    }
  });
  CHECK(strays == 0);
  for (const auto& inner : counts) CHECK(inner == std::vector<int>(50, 1));
}

TEST_CASE("an exception in a nested parallel_for reaches the outermost caller, and threads are used again after") {
  const PlainGuard fast(false);
  const Threads threads(3);
  const auto inner = [](Index, Index) { throw ValueError("inner"); };
  CHECK_THROWS_AS(parallel_for(3, 1, [&](Index, Index) { parallel_for(10, 1, inner); }), ValueError);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  parallel_for(3, 1, [&](Index, Index) {
    const std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  CHECK(ids.size() == 3);
}

TEST_CASE("many short tasks one after the other all end, also while the number of threads changes") {
  const Threads threads(2);
  Index wrong = 0;
  for (int round = 0; round < 1000; ++round) {
    if (round % 100 == 0) set_thread_count(1 + round / 100 % 4);
    wrong += parallel_sum(20) != 190;
  }
  CHECK(wrong == 0);
}

TEST_CASE("several threads may call parallel_for, and change the number of threads, at the same time") {
  const Threads threads(3);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 100; ++round) {
        if (round % 10 == 0) set_thread_count(1 + (round / 10 + caller) % 4);
        wrong += parallel_sum(50) != 1225;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("a number of threads outside 1 .. 256 is a value error and changes nothing") {
  const Threads threads(2);
  CHECK(holds(message_of<ValueError>([] { set_thread_count(0); }), "0 threads"));
  message_of<ValueError>([] { set_thread_count(-1); });
  message_of<ValueError>([] { set_thread_count(257); });
  CHECK(thread_count() == 2);
}

TEST_CASE("every operation gives the same bits for 1, 2 and 5 threads") {
  Random random(50);
  const Tensor x = random.normal({130, 700}, 0, 1), y = random.normal({700}, 0, 1);
  const Tensor across = random.normal({700, 130}, 0, 1).transpose(0, 1), cube = x.reshape({10, 13, 700});
  const auto all = [&] {
    Tensor written = x.clone();
    add_in_place(written, across);
    return std::vector<Tensor>{add(x, y),
                               mul(x, across),
                               exp(x),
                               tanh(across),
                               written,
                               sum(x),
                               sum(x, {0}),
                               sum(x, {1}),
                               sum(across, {0}),
                               sum(across, {1}),
                               sum(cube, {0, 2}),
                               sum(cube, {1}),
                               max(x, {1}),
                               max(across, {0}),
                               sum_to(x, {700}),
                               softmax(x),
                               softmax(x, 0),
                               log_softmax(across),
                               softmax_backward(x, across, 1),
                               log_softmax_backward(x, across, 0),
                               concat({x, across}, 0),
                               across.clone()};
  };
  std::vector<Tensor> expected;
  for (const int count : {1, 2, 5}) {
    const SharingThreads threads(count);
    const std::vector<Tensor> got = all();
    if (count == 1) expected = got;
    for (std::size_t i = 0; i < got.size(); ++i) {
      CAPTURE(i);
      CAPTURE(count);
      CHECK(same_bits(got[i], expected[i]));
    }
  }
}

TEST_CASE("A small task is shared when grains are divided, and not otherwise") {
  if (plain()) return;
  const Threads threads(2);
  const std::uint64_t before = shared_tasks();
  visits(100, 1000);
  CHECK(shared_tasks() == before);
  const SharingThreads sharing(2);
  CHECK(visits(100, 1000) == std::vector<int>(100, 1));
  CHECK(shared_tasks() == before + 1);
}

#ifndef __SANITIZE_THREAD__  // which ends a child that starts threads
TEST_CASE("A child process computes and exits although it has none of its parent's threads") {
  const Threads threads(3);
  CHECK(parallel_sum(1000) == 499500);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // ends a child that hangs
    _exit(parallel_sum(1000) == 499500 && parallel_sum(1000) == 499500 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(parallel_sum(1000) == 499500);
}
#endif

TEST_CASE("A body may wait for a thread that has a task of its own") {
  const Threads threads(2);
  Index inner = 0;
  parallel_for(2, 1, [&](Index begin, Index) {
    if (begin == 0) std::thread([&] { inner = parallel_sum(1000); }).join();
  });
  CHECK(inner == 499500);
}

}  // namespace segue::tensor_parallel_test
