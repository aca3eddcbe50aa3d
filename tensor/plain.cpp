#include "tensor/plain.hpp"

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace segue {
namespace {

#ifdef SEGUE_START_PLAIN
constexpr bool plain_by_default = true;
#else
constexpr bool plain_by_default = false;
#endif

bool starts_plain() {
  const char* const asked = std::getenv("SEGUE_PLAIN");
  return asked == nullptr ? plain_by_default : std::string_view(asked) == "1";
}

// A debugger may set it between two ops.
std::atomic<bool> runs_plain = starts_plain();

}  // namespace

bool plain() { return runs_plain; }

PlainGuard::PlainGuard(bool plain) : before_(runs_plain.exchange(plain)) {}
PlainGuard::~PlainGuard() { runs_plain = before_; }

}  // namespace segue
