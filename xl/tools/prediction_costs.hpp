// What predicting one token costs when it may look far back: with a window that slides, and with a
// memory.
#pragma once

#include "xl/config.hpp"

namespace segue {

/// Multiplications (with as many additions) in the matrix products that predict one token, in four
/// ways. A query is counted with the keys that it sees. What the config says of segment and memory
/// does not matter here. All throw ValueError for lengths below 1 (of a memory: below 0) and for a
/// config that makes no sense.

/// A forward pass over a window of W tokens, of whose predictions only the last is used.
double window_multiplications(const Config& config, Index W, Where where = Where::current());

/// The same in a vanilla Transformer that adds positions to its input, so that no product asks for
/// distances.
double absolute_window_multiplications(const Config& config, Index W,
                                       Where where = Where::current());

/// A T-th of what evaluate() does for a segment of T tokens after a full memory of M. Each state is
/// projected to keys and values once, in its segment, and is known when it gets into the memory.
/// Distances are projected no more.
double memory_multiplications(const Config& config, Index T, Index M,
                              Where where = Where::current());

/// The same when keys and values of the whole memory, and all distances, are projected anew for
/// every segment.
double uncached_memory_multiplications(const Config& config, Index T, Index M,
                                       Where where = Where::current());

}  // namespace segue
