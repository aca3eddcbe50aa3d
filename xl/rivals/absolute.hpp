// Absolute codes: a vector for each position, added to the input once (Vaswani et al. 2017,
// section 3.5). What a memory keeps carries the code of the time when it was read.
#pragma once

#include "autograd/variable.hpp"
#include "tensor/tokens.hpp"
#include "xl/memory.hpp"

namespace segue {

/// 0 .. T-1 in every row, whatever was read before. [B, T]
Tokens restarting_positions(const Memory& memory, Index T);
/// Each row counted on from what it has read since it began. [B, T]
Tokens running_positions(const Memory& memory, Index T);

/// Sinusoids of the positions. [B, T] -> [B, T, D]
Variable sinusoid_codes(const Tokens& positions, Index D);
/// Rows of a learned table [rows, D]. Beyond its last row: that row again when `clamp` is set, else
/// a RangeError that names position and table. [B, T] -> [B, T, D]
Variable table_codes(const Variable& table, const Tokens& positions, bool clamp,
                     Where where = Where::current());

}  // namespace segue
