// The memory behind tensors: counted, aligned, shared, and given back.
#include "tensor/storage.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <new>
#include <thread>

#include "tensor/kernels/free_blocks.hpp"
#include "tensor/plain.hpp"
#include "tests/support/tensors.hpp"

namespace segue::tensor_storage_test {

TEST_CASE("bytes are counted while a tensor or one of its views lives") {
  const std::size_t before = tensor_bytes();
  {
    Tensor view;
    {
      const Tensor x = Tensor::zeros({10, 10});
      CHECK(tensor_bytes() == before + 100 * sizeof(Real));
      view = x.narrow(0, 3, 1);
    }
    CHECK(tensor_bytes() == before + 100 * sizeof(Real));
  }
  CHECK(tensor_bytes() == before);
}

TEST_CASE("the peak stays until it is reset") {
  const std::size_t before = tensor_bytes();
  reset_peak_tensor_bytes();
  CHECK(peak_tensor_bytes() == before);
  { const Tensor x = Tensor::zeros({1000}), y = Tensor::zeros({500}); }
  CHECK(peak_tensor_bytes() == before + 1500 * sizeof(Real));
  reset_peak_tensor_bytes();
  CHECK(peak_tensor_bytes() == before);
}

TEST_CASE("blocks of every size hold their numbers, and those of more than 16 bytes start at a multiple of 64") {
  std::vector<Tensor> tensors;
  for (Index n = 0; n < 300; ++n) tensors.push_back(Tensor::full({n}, static_cast<Real>(n)));
  for (const Index n : {1000, 1023, 1024, 1025, 4097, 65537})
    tensors.push_back(Tensor::full({n}, static_cast<Real>(n)));
  for (const Tensor& x : tensors) {  // all alive at once: none may lie in another
    const std::size_t bytes = static_cast<std::size_t>(x.size()) * sizeof(Real);
    CHECK(reinterpret_cast<std::uintptr_t>(x.data()) % (bytes > 16 ? 64 : alignof(Real)) == 0);
    bool kept = true;
    for (Index i = 0; i < x.size(); ++i) kept = kept && x.data()[i] == static_cast<Real>(x.size());
    CHECK(kept);
  }
}

TEST_CASE("a block freed and taken again is not shared with one that lives") {
  Random random(6);
  std::vector<Tensor> tensors(20);
  for (int round = 0; round < 2000; ++round) {
    const auto slot = static_cast<std::size_t>(random.below(20));
    tensors[slot] = Tensor::full({random.below(200)}, static_cast<Real>(slot));
  }
  for (std::size_t slot = 0; slot < tensors.size(); ++slot) {
    for (const Real value : tensors[slot].to_vector()) REQUIRE(value == static_cast<Real>(slot));
  }
}

TEST_CASE("opening a tensor for writing counts up the version that all its views see") {
  Tensor x = Tensor::zeros({4});
  Tensor view = x.narrow(0, 1, 2);
  const std::uint64_t before = x.storage()->version;
  CHECK(x.at({0}) == 0);
  CHECK(x.storage()->version == before);
  view.fill_in_place(1);
  CHECK(x.storage()->version == before + 1);
  view.set_in_place({0}, 2);
  CHECK(x.storage()->version == before + 2);
}

TEST_CASE("more numbers than memory can hold is bad_alloc and leaves the count as it was") {
  const std::size_t before = tensor_bytes();
  CHECK_THROWS_AS(Tensor::uninitialized({std::numeric_limits<Index>::max()}), std::bad_alloc);
  CHECK_THROWS_AS(Tensor::uninitialized({Index{1} << 31, Index{1} << 31}), std::bad_alloc);
  CHECK(tensor_bytes() == before);
}

TEST_CASE("a tensor made on one thread may die on another") {
  const std::size_t before = tensor_bytes();
  Tensor here;
  std::thread([&] { here = Tensor::full({100}, 3); }).join();
  CHECK(here.at({99}) == 3);
  std::thread([x = std::move(here)]() mutable { x = Tensor(); }).join();
  CHECK(tensor_bytes() == before);
}

TEST_CASE("Tensors made on one thread and dropped on another leave nothing behind") {
  release_idle_blocks();
  const std::size_t before = idle_bytes();
  const Index n = Index{1 << 20} / static_cast<Index>(sizeof(Real));
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Tensor> handed_over;
  bool done = false;
  std::thread dropper([&] {
    std::unique_lock lock(mutex);
    while (!done || !handed_over.empty()) {
      changed.wait(lock, [&] { return done || !handed_over.empty(); });
      handed_over.clear();
      changed.notify_all();
    }
  });
  for (int made = 0; made < 4000; ++made) {
    Tensor x = Tensor::uninitialized({n});
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return handed_over.empty(); });
    handed_over.push_back(std::move(x));
    changed.notify_all();
  }
  {
    const std::lock_guard lock(mutex);
    done = true;
  }
  changed.notify_all();
  dropper.join();
  CHECK(idle_bytes() - before < (std::size_t{64} << 20));
}

TEST_CASE("Tensors made and dropped one by one, each larger, leave no more idle than the largest and a quarter") {
  release_idle_blocks();
  double size = 1 << 16;
  std::size_t largest = 0;
  for (int made = 0; made < 40; ++made, size *= 1.19) {
    const Tensor x = Tensor::uninitialized({static_cast<Index>(size)});
    largest = static_cast<std::size_t>(x.size()) * sizeof(Real);
  }
  CHECK(idle_bytes() < largest * 8 / 5);  // blocks are up to a fifth larger than what they hold
  release_idle_blocks();
  CHECK(idle_bytes() == 0);
}

TEST_CASE("Under a limit of memory idle blocks are given back before an allocation fails") {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit = {rlim_t{4} << 30, rlim_t{4} << 30};
    setrlimit(RLIMIT_AS, &limit);
    int failures = 0;
    for (const Index megabytes : {400, 800, 1200, 600, 1500, 450, 700, 1400}) {
      try {
        std::vector<Tensor> both;
        for (int i = 0; i < 2; ++i) both.push_back(Tensor::uninitialized({megabytes << 17}));  // of 8 or 4 bytes
      } catch (const std::bad_alloc&) {
        ++failures;
      }
    }
    _exit(failures);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
#endif
}

TEST_CASE("A count that has no bytes is bad_alloc, also where a size has 32 bits") {
  CHECK(bytes_of(3, 4, 12) == 12);
  CHECK_THROWS_AS(bytes_of(3, 4, 11), std::bad_alloc);
  CHECK_THROWS_AS(bytes_of(-1, 4, 1000), std::bad_alloc);
  CHECK_THROWS_AS(bytes_of(Index{1} << 32, 4, 0xffffffff), std::bad_alloc);
}

TEST_CASE("A block made plain may be given back fast, and the other way round") {
  const std::size_t before = tensor_bytes();
  for (const bool first : {false, true}) {
    std::vector<Tensor> tensors;
    {
      const PlainGuard guard(first);
      for (const Index n : {1, 100, 100000}) tensors.push_back(Tensor::full({n}, 2));
    }
    const PlainGuard guard(!first);
    tensors.clear();
    CHECK(Tensor::full({100000}, 3).at({99999}) == 3);
  }
  CHECK(tensor_bytes() == before);
}

}  // namespace segue::tensor_storage_test
