#include "tensor/storage.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <limits>
#include <new>
#include <utility>

namespace segue {
namespace {

constexpr std::align_val_t alignment{64};
constexpr int size_classes =
    4 * 64;  // four to each power of two, so a block wastes at most a fifth

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
  std::size_t number, bytes;
};
SizeClass size_class(std::size_t bytes) {
  bytes = std::max<std::size_t>(bytes, 64);
  const auto power =
      static_cast<std::size_t>(std::bit_width(bytes - 1) - 1);    // 2^power < bytes <= 2^(power+1)
  const std::size_t quarters = ((bytes - 1) >> (power - 2)) + 1;  // 5 .. 8 of 2^power
  return {power * 4 + quarters - 5, quarters << (power - 2)};
}

// Freed blocks wait here, by size class, for the next tensor of their size: training in a steady
// state asks the system for nothing. One list of lists for each thread, so that no lock is needed.
struct FreeBlock {
  FreeBlock* next;
};
struct FreeBlocks {
  std::array<FreeBlock*, size_classes> first{};
  ~FreeBlocks();
};
thread_local bool thread_ends = false;
thread_local FreeBlocks free_blocks;

FreeBlocks::~FreeBlocks() {
  thread_ends = true;
  for (FreeBlock* block : first) {
    while (block != nullptr) ::operator delete(std::exchange(block, block->next), alignment);
  }
}

std::atomic<std::size_t> live_bytes = 0;
std::atomic<std::size_t> peak_bytes = 0;

std::size_t bytes_for(Index size) {
  const auto count = static_cast<std::size_t>(size);
  if (count > std::numeric_limits<std::size_t>::max() / (4 * sizeof(Real))) throw std::bad_alloc();
  return count * sizeof(Real);
}

constexpr std::size_t few_bytes = 16;  // of numbers that need not start at a multiple of 64

}  // namespace

void* take_block(std::size_t bytes) {
  const SizeClass c = size_class(bytes);
  if (!reuse_blocks || thread_ends || free_blocks.first[c.number] == nullptr)
    return ::operator new(c.bytes, alignment);
  FreeBlock*& first = free_blocks.first[c.number];
  void* const block = std::exchange(first, first->next);
  __builtin_prefetch(first, 1);
  return block;
}

void give_block_back(void* block, std::size_t bytes) {
  if (!reuse_blocks || thread_ends) return ::operator delete(block, alignment);
  FreeBlock*& first = free_blocks.first[size_class(bytes).number];
  first = new (block) FreeBlock{first};
}

Storage::Storage(Index n) : size(n) {
  const auto end = reinterpret_cast<std::uintptr_t>(this + 1);
  data = reinterpret_cast<Real*>(bytes_for(n) <= few_bytes ? end : (end / 64 + 1) * 64);
  const std::size_t live = live_bytes += bytes_for(n);
  std::size_t peak = peak_bytes;
  while (live > peak && !peak_bytes.compare_exchange_weak(peak, live)) {
  }
}

Storage::~Storage() { live_bytes -= bytes_for(size); }

// One block holds the numbers, their Storage, and what std::shared_ptr needs to count its users.
std::shared_ptr<Storage> allocate_storage(Index size) {
  const std::size_t bytes = bytes_for(size), room = bytes <= few_bytes ? few_bytes : bytes + 64;
  return std::allocate_shared<Storage>(BlockAllocator<Storage>(room), size);
}

std::size_t tensor_bytes() { return live_bytes; }
std::size_t peak_tensor_bytes() { return peak_bytes; }
void reset_peak_tensor_bytes() { peak_bytes = live_bytes.load(); }

}  // namespace segue
