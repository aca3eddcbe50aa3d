// The sinusoids of the last call, kept for the next: nearly every segment asks for those of the one
// before.
#pragma once

#include "xl/sinusoids.hpp"

namespace segue {

/// distance_sinusoids(K, clamp_length, D), [K, D]: computed anew only when one of the three numbers
/// has changed on this thread, when somebody has written into the result, or when ops run plain.
Tensor kept_sinusoids(Index K, Index clamp_length, Index D, Where where = Where::current());

}  // namespace segue
