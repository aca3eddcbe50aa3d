#include "tensor/storage.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <new>

#include "tensor/kernels/free_blocks.hpp"

namespace segue {
namespace {

std::atomic<std::size_t> live_bytes = 0;
std::atomic<std::size_t> peak_bytes = 0;

std::size_t bytes_for(Index count) {
  return bytes_of(count, sizeof(Real), std::numeric_limits<std::size_t>::max() / 4);
}

}  // namespace

std::size_t bytes_of(Index count, std::size_t width, std::size_t most) {
  if (count < 0 || static_cast<std::uint64_t>(count) > most / width) throw std::bad_alloc();
  return static_cast<std::size_t>(count) * width;
}

Storage::Storage(Index n) : capacity(n) {
  const std::size_t bytes = bytes_for(n);
  data = bytes <= sizeof(few) ? few.data() : static_cast<Real*>(take_block(bytes));
  const std::size_t live = live_bytes += bytes;
  std::size_t peak = peak_bytes;
  while (live > peak && !peak_bytes.compare_exchange_weak(peak, live)) {
  }
}

Storage::~Storage() {
  const std::size_t bytes = bytes_for(capacity);
  live_bytes -= bytes;
  if (bytes > sizeof(few)) give_block_back(data, bytes);
}

std::shared_ptr<Storage> allocate_storage(Index size, Index capacity) {
  const auto storage =
      std::allocate_shared<Storage>(BlockAllocator<Storage>(), std::max(size, capacity));
  storage->size = size;
  return storage;
}

std::size_t tensor_bytes() { return live_bytes; }
std::size_t peak_tensor_bytes() { return peak_bytes; }
void reset_peak_tensor_bytes() { peak_bytes = live_bytes.load(); }

}  // namespace segue
