// What one core of this machine can do at most.
#pragma once

namespace segue {

/// Multiply-adds a second on this thread, from a loop that does nothing else, with the vectors this
/// build may use: the best of several bursts of about a millisecond. A build that does not fuse
/// them has a lower peak.
double peak_multiply_adds();

}  // namespace segue
