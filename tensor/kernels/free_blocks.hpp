// Blocks of memory, kept for reuse when their last user is gone: training in a steady state makes
// the same tensors step after step, and asking the system for each would cost more than a small op.
#pragma once

#include <cstddef>

namespace segue {

/// A block of at least `bytes`, aligned to 64. Throws std::bad_alloc when the system has no more
/// even after it was given all idle blocks. When ops run plain, and under sanitizers, every block
/// comes from the system and goes back to it at once.
void* take_block(std::size_t bytes);
/// `bytes` as they were asked for. Any thread may give back what another took.
void give_block_back(void* block, std::size_t bytes) noexcept;

/// Bytes in blocks that wait for reuse: large ones of the whole program and small ones of this
/// thread. They stay below a quarter more than the program had in use at its peak, and 64 MiB a
/// thread.
std::size_t idle_bytes();
/// Gives them back to the system.
void release_idle_blocks() noexcept;

/// From here on this thread keeps its large blocks to itself, as it does the small ones. For a
/// thread that drops only what it made: a worker of parallel_for, whose scratch blocks are then its
/// own, whatever the other threads hold at that moment.
void keep_blocks_on_this_thread();

/// Lets standard containers and std::allocate_shared use such blocks.
template <class T>
struct BlockAllocator {
  using value_type = T;
  BlockAllocator() = default;
  template <class U>
  BlockAllocator(const BlockAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(take_block(n * sizeof(T))); }
  void deallocate(T* block, std::size_t n) noexcept { give_block_back(block, n * sizeof(T)); }
  bool operator==(const BlockAllocator&) const = default;
};

}  // namespace segue
