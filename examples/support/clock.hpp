// Two clocks, in seconds since some moment.
#pragma once

#include <chrono>
#include <ctime>

namespace segue {

/// What all threads of this program have had of a processor: whatever else the machine does hardly counts.
inline double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// The clock on the wall, which alone can say what several threads gain.
inline double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace segue
