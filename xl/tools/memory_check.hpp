// Is the memory sound? What is wrong in it, and how states that have grown too large are brought
// back.
#pragma once

#include <string>
#include <vector>

#include "xl/memory.hpp"

namespace segue {

/// A state with something wrong: the first of its numbers that is NaN, or else the one of largest
/// magnitude.
struct MemoryFinding {
  Index layer = 0, row = 0, position = 0;  // position 0 is the oldest that is kept
  Index component = 0;                     // of the state, 0 .. D-1
  Real value = 0;
};

/// Every state with a NaN, an infinity, or a magnitude above `limit`, layer by layer, row by row;
/// empty when all is well. What a reset has hidden is zero, so it is never found. Throws ValueError
/// unless limit >= 0, ShapeError.
std::vector<MemoryFinding> check_memory(const Memory& memory, Real limit = 1000,
                                        Where where = Where::current());

/// "layer 1, row 0, position 12: component 3 is nan".
std::string to_string(const MemoryFinding& finding);
/// One line for each, at most `most` and then how many more; one line as well when there are none.
std::string to_text(const std::vector<MemoryFinding>& findings, std::size_t most = 10);

/// The memory with each state whose Euclidean norm is above `largest_norm`, by more than rounding,
/// scaled to that norm. All others keep their bits, and layers without such a state their storage.
/// A state with a NaN or an infinity has no norm: it is left alone, for check_memory to report.
/// Throws ValueError unless largest_norm > 0, ShapeError.
Memory stabilise(const Memory& memory, Real largest_norm, Where where = Where::current());

}  // namespace segue
