// A hash that tells whether two machines computed the same numbers, to the last bit.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace segue {

/// FNV-1a (Fowler, Noll and Vo) over the bytes of numbers, lowest byte first on every machine.
struct Hash {
  std::uint64_t value = 0xcbf29ce484222325;
  void add(std::uint64_t bits, int bytes) {
    for (int i = 0; i < bytes; ++i) value = (value ^ ((bits >> (8 * i)) & 255)) * 0x100000001b3;
  }
  // The sign and payload of a NaN are the machine's own.
  void add(double x) { add(std::isnan(x) ? 0 : std::bit_cast<std::uint64_t>(x), 8); }
  void add(float x) { add(std::isnan(x) ? 0 : std::bit_cast<std::uint32_t>(x), 4); }
};

}  // namespace segue
