// What predicting one token costs when it may look far back: with a window that slides, and with a memory.
#pragma once

#include "xl/config.hpp"

namespace segue {

/// Multiplications (with as many additions) in the matrix products that predict one token, in four ways. What the
/// config says of segment and memory does not matter here. All throw ValueError for lengths below 1 (of a memory: below
/// 0) and for a config that makes no sense.

/// A forward pass over a window of W tokens, of whose predictions only the last is used.
double window_multiplications(const Config& config, Index W, Where where = Where::current());

/// The same in a vanilla Transformer that adds positions to its input, so that no product asks for distances.
double absolute_window_multiplications(const Config& config, Index W, Where where = Where::current());

/// A T-th of a segment of T tokens after a memory of M, whose keys and values are made for every segment again.
double memory_multiplications(const Config& config, Index T, Index M, Where where = Where::current());

/// The same when keys and values are made only once, when a token is read.
double kept_keys_multiplications(const Config& config, Index T, Index M, Where where = Where::current());

}  // namespace segue
