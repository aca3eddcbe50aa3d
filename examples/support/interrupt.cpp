#include "examples/support/interrupt.hpp"

#include <atomic>
#include <csignal>

namespace segue {

namespace {

std::atomic<bool> was_interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not wait for a lock");

extern "C" void note_interrupt(int) {
  was_interrupted = true;
  std::signal(SIGINT, SIG_DFL);  // the next one kills
}

}  // namespace

void catch_interrupts() { std::signal(SIGINT, note_interrupt); }

bool interrupted() { return was_interrupted; }

}  // namespace segue
