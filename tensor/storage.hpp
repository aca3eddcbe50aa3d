// The memory behind tensors: blocks of numbers, shared by views, and kept for reuse when the last
// view is gone.
#pragma once

#include <cstddef>
#include <memory>

#include "tensor/real.hpp"

namespace segue {

/// Memory of at least `bytes`, aligned to 64, from the blocks that were given back before, or from
/// the system.
void* take_block(std::size_t bytes);
void give_block_back(void* block, std::size_t bytes);

/// Lets standard containers and std::allocate_shared use such blocks, with `behind` bytes more than
/// these ask for.
template <class T>
struct BlockAllocator {
  using value_type = T;
  explicit BlockAllocator(std::size_t bytes = 0) : behind(bytes) {}
  template <class U>
  BlockAllocator(const BlockAllocator<U>& other) : behind(other.behind) {}
  T* allocate(std::size_t n) { return static_cast<T*>(take_block(n * sizeof(T) + behind)); }
  void deallocate(T* block, std::size_t n) { give_block_back(block, n * sizeof(T) + behind); }
  bool operator==(const BlockAllocator&) const = default;
  std::size_t behind;
};

/// Numbers, aligned to 64 bytes unless they are only a few. `version` counts the times they were
/// opened for writing.
struct Storage {
  constexpr Storage() = default;
  explicit Storage(Index size);  // with its numbers behind it: see allocate_storage
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  Real* data = nullptr;
  Index size = 0;
  std::uint64_t version = 0;
};

/// A new block of `size` uninitialised numbers. Throws std::bad_alloc when the system has no more
/// memory.
std::shared_ptr<Storage> allocate_storage(Index size);

/// Bytes in blocks that tensors hold now.
std::size_t tensor_bytes();
/// The most that `tensor_bytes()` has been since the start or the last reset.
std::size_t peak_tensor_bytes();
void reset_peak_tensor_bytes();

}  // namespace segue
