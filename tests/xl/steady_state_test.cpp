// What training asks of the system for, counted in a program of its own, since it replaces the global operator new. The
// builds with sanitizers, in which no block is kept for reuse, leave it out.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tensor/parallel.hpp"
#include "tests/support/tiny_models.hpp"
#include "xl/training.hpp"

namespace {

std::atomic<long> blocks = 0;              // for tensors and nodes: what take_block asks for is aligned
std::atomic<std::size_t> other_bytes = 0;  // for the standard library's containers and strings

}  // namespace

void* operator new(std::size_t bytes) {
  other_bytes += bytes;
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++blocks;
  const auto multiple = static_cast<std::size_t>(alignment);
  if (void* const memory = std::aligned_alloc(multiple, (bytes + multiple - 1) / multiple * multiple)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace segue::xl_steady_state_test {

TEST_CASE(
    "A training step in steady state asks the system for no tensor and no node, and copies little but its tokens") {
  const int before = thread_count();
  for (const auto& [threads, dropout] : {std::pair{1, Real(0)}, {1, Real(0.1)}, {2, Real(0)}, {2, Real(0.1)}}) {
    set_thread_count(threads);
    Config config = tiny_config();
    config.width = 128, config.feed_forward_width = 512, config.vocabulary = 300;  // enough for two threads
    config.dropout = config.attention_dropout = dropout;
    TransformerXL model = random_model(config);
    Adam optimizer(parameters(model));
    TrainingState state = {0, empty_memory(config, 32, config.memory_length), Random(1)};
    const Tokens text = random_tokens(32, 17, config.vocabulary);
    const Batch batch = {columns(text, 0, 16), columns(text, 1, 16), {}};
    TrainingOptions options;
    options.learning_rate = [](Index) { return Real(0.001); };
    options.clip = Real(0.001);  // every step clips
    const auto take_steps = [&](Index count) {
      options.steps = state.step + count;
      train(
          model, optimizer, state, [&] { return batch; }, options);
    };
    take_steps(5);  // the memory is full, and every block that is needed is there
    const long blocks_before = blocks;
    const std::size_t bytes_before = other_bytes;
    take_steps(5);
    CHECK(blocks == blocks_before);
    const std::size_t bytes_of_batch = 2 * 32 * 16 * sizeof(Index);
    CHECK((other_bytes - bytes_before) / 5 < 3 * bytes_of_batch);
  }
  set_thread_count(before);
}

}  // namespace segue::xl_steady_state_test
