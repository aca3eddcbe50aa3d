// The memory behind tensors: numbers that views share, counted so that a program can say what it
// holds.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "tensor/real.hpp"

namespace segue {

/// Numbers in a block of memory aligned to 64 bytes, or in the storage itself when they are only a
/// few.
struct Storage {
  constexpr Storage() = default;
  explicit Storage(Index capacity);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  Real* data = nullptr;
  Index size = 0;                                // numbers in use
  Index capacity = 0;                            // numbers that there is room for
  std::uint64_t version = 0;                     // counts how often they were opened for writing
  std::array<Real, 16 / sizeof(Real)> few = {};  // where they lie when these are enough
};

/// `size` uninitialised numbers, with room behind them for up to `capacity`. Throws std::bad_alloc
/// when the system has no more memory.
std::shared_ptr<Storage> allocate_storage(Index size, Index capacity = 0);

/// The bytes of `count` numbers of `width` bytes each. Throws std::bad_alloc for a count that is
/// below 0 or whose bytes are above `most`.
std::size_t bytes_of(Index count, std::size_t width, std::size_t most);

/// Bytes of numbers that tensors hold now.
std::size_t tensor_bytes();
/// The most that `tensor_bytes()` has been since the start or the last reset.
std::size_t peak_tensor_bytes();
void reset_peak_tensor_bytes();

}  // namespace segue
