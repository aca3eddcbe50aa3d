// Vectors as the target has them, through the compiler's vector extensions: one source for SSE,
// AVX, AVX-512 and NEON.
#pragma once

#include "tensor/real.hpp"

namespace segue {

// A vector type wider than the registers of the machine is split by g++ through memory, so the
// width follows the target.
#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

using Vector = Real __attribute__((vector_size(vector_bytes)));
inline constexpr Index vector_width = vector_bytes / static_cast<Index>(sizeof(Real));

}  // namespace segue
