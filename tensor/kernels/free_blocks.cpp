// Small blocks wait in lists of the thread that gave them back, which needs no lock: there are
// many, and a lock would be most of their cost. Large blocks wait in lists of the whole program, so
// that a tensor made on one thread and dropped on another leaves nothing behind.
#include "tensor/kernels/free_blocks.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <new>
#include <utility>

#include "tensor/plain.hpp"

namespace segue {
namespace {

constexpr std::align_val_t alignment{64};
constexpr int size_classes =
    4 * 64;  // four to each power of two, so a block wastes at most a fifth
constexpr std::size_t large = 32768;  // bytes from which on a lock costs little
constexpr std::size_t most_small = std::size_t{64}
                                   << 20;  // idle bytes of small blocks on one thread

// Sanitizers must see every block come and go.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool reuse_blocks = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool reuse_blocks = false;
#else
constexpr bool reuse_blocks = true;
#endif
#else
constexpr bool reuse_blocks = true;
#endif

// The smallest class whose blocks hold `bytes`, and the size of its blocks: 2^k * {4, 5, 6, 7} / 4.
struct SizeClass {
  std::size_t number;
  std::size_t bytes;
};
SizeClass size_class(std::size_t bytes) {
  bytes = std::max<std::size_t>(bytes, 64);
  const auto power = static_cast<std::size_t>(std::bit_width(bytes - 1) - 1);
  const std::size_t quarters = ((bytes - 1) >> (power - 2)) + 1;  // 5 .. 8 of 2^power
  return {power * 4 + quarters - 5, quarters << (power - 2)};
}

struct FreeBlock {
  FreeBlock* next;
};

// Lists of free blocks, one for each size class.
struct FreeLists {
  std::array<FreeBlock*, size_classes> first{};
  std::size_t bytes = 0;

  void* take(const SizeClass& c) {
    FreeBlock*& list = first[c.number];
    if (list == nullptr) return nullptr;
    bytes -= c.bytes;
    void* const block = std::exchange(list, list->next);
    __builtin_prefetch(list, 1);
    return block;
  }
  void give(void* block, const SizeClass& c) {
    FreeBlock*& list = first[c.number];
    list = new (block) FreeBlock{list};
    bytes += c.bytes;
  }
  void release() {
    for (FreeBlock*& list : first) {
      while (list != nullptr) ::operator delete(std::exchange(list, list->next), alignment);
    }
    bytes = 0;
  }
};

thread_local bool thread_ends = false;
thread_local bool keeps_large_blocks = false;
struct SmallBlocks : FreeLists {
  ~SmallBlocks() {
    thread_ends = true;
    release();
  }
};
thread_local SmallBlocks small_blocks;

// Never destroyed, since tensors may outlive every static object.
struct LargeBlocks : FreeLists {
  std::mutex mutex;
  std::size_t used = 0;
  std::size_t peak = 0;  // of `used`
};
LargeBlocks& large_blocks() {
  static LargeBlocks* const blocks = [] {
    // A child process must not find the lock taken by a thread that it does not have.
    pthread_atfork([] { large_blocks().mutex.lock(); }, [] { large_blocks().mutex.unlock(); },
                   [] { large_blocks().mutex.unlock(); });
    return new LargeBlocks;
  }();
  return *blocks;
}

void* from_system(std::size_t bytes) {
  void* const block = ::operator new(bytes, alignment, std::nothrow);
  if (block != nullptr) return block;
  release_idle_blocks();
  return ::operator new(bytes, alignment);
}

void* take_large(const SizeClass& c) {
  LargeBlocks& blocks = large_blocks();
  void* block = nullptr;
  {
    const std::lock_guard lock(blocks.mutex);
    const std::size_t used = blocks.used + c.bytes;
    const std::size_t peak = std::max(blocks.peak, used);
    if (!plain()) block = blocks.take(c);
    if (block == nullptr && used + blocks.bytes > peak + peak / 4) blocks.release();
    blocks.used = used;
    blocks.peak = peak;
  }
  if (block != nullptr) return block;
  try {
    return from_system(c.bytes);
  } catch (...) {
    const std::lock_guard lock(blocks.mutex);
    blocks.used -= c.bytes;
    throw;
  }
}

void give_large_back(void* block, const SizeClass& c) {
  LargeBlocks& blocks = large_blocks();
  {
    const std::lock_guard lock(blocks.mutex);
    blocks.used -= c.bytes;
    if (!plain()) return blocks.give(block, c);
  }
  ::operator delete(block, alignment);
}

}  // namespace

void* take_block(std::size_t bytes) {
  const SizeClass c = size_class(bytes);
  if (!reuse_blocks) return ::operator new(c.bytes, alignment);
  if (c.bytes >= large && !keeps_large_blocks) return take_large(c);
  void* const block = thread_ends || plain() ? nullptr : small_blocks.take(c);
  return block != nullptr ? block : from_system(c.bytes);
}

void give_block_back(void* block, std::size_t bytes) noexcept {
  const SizeClass c = size_class(bytes);
  if (reuse_blocks && c.bytes >= large && !keeps_large_blocks) return give_large_back(block, c);
  if (!reuse_blocks || thread_ends || plain() || small_blocks.bytes + c.bytes > most_small) {
    return ::operator delete(block, alignment);
  }
  small_blocks.give(block, c);
}

void keep_blocks_on_this_thread() { keeps_large_blocks = true; }

std::size_t idle_bytes() {
  LargeBlocks& blocks = large_blocks();
  const std::lock_guard lock(blocks.mutex);
  return blocks.bytes + (thread_ends ? 0 : small_blocks.bytes);
}

void release_idle_blocks() noexcept {
  LargeBlocks& blocks = large_blocks();
  const std::lock_guard lock(blocks.mutex);
  blocks.release();
  if (!thread_ends) small_blocks.release();
}

}  // namespace segue
