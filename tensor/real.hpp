// The number type. One source, two builds: float for speed, double for gradient checks and golden
// runs.
//
// The alphabet of the whole project, for shapes in code, comments and book:
//   B batch          T length of the segment   M length of the memory   K = M + T keys
//   D model width    H heads                   Dh width of a head       F feed-forward width
//   V vocabulary     N layers                  i query index            j key index
#pragma once

#include <cstdint>

#ifndef SEGUE_REAL
#define SEGUE_REAL float
#endif

#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "segue relies on NaN and infinity: build it without -ffast-math and -ffinite-math-only"
#endif

namespace segue {

using Real = SEGUE_REAL;
using Index = std::int64_t;

// The library has one of these two functions, and every source asks for the one of its Real: what
// was compiled for float does not link with what was compiled for double.
void compiled_for(float);
void compiled_for(double);
[[gnu::used]] inline void (*const library_needed)(Real) = &compiled_for;

}  // namespace segue
