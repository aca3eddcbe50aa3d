// How much of the machine's memory this process takes.
#pragma once

#include "tensor/real.hpp"

namespace segue {

/// The most bytes that have been resident since the start of the process, as the system counts them.
Index peak_resident_bytes();

/// The bytes that are resident now; the peak where the system does not tell.
Index resident_bytes();

}  // namespace segue
