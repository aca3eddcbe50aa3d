// The memory behind tensors: counted, aligned, shared, and given back.
#include "tensor/storage.hpp"

#include <cstdint>
#include <limits>
#include <new>
#include <thread>

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

}  // namespace segue::tensor_storage_test
