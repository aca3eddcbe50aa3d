// One product of two matrices, of any strides, on one thread.
#pragma once

#include "tensor/real.hpp"

namespace segue {

/// A matrix somewhere in memory: element (i, j) is data[i * row + j * column].
struct Matrix {
  const Real* data;
  Index row, column;
};

/// The product is computed in tiles, as high as the registers of the machine allow: work is best
/// cut at multiples of this.
#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int tile_rows = 8;  // of 32 registers
#else
inline constexpr int tile_rows = 6;  // of 16 registers
#endif
/// So many columns are worked on at a time.
inline constexpr Index max_columns = 512;

/// How many numbers of working memory multiply() needs at most.
Index multiply_buffer_size(Index depth, Index columns);

enum class Start { from_zero, from_z };

/// z[i, j] = sum of x[i, p] * y[p, j] over p = 0, 1, .. depth-1 in this order, each sum beginning
/// with 0 or with what z[i, j] holds. The rows of z lie `z_row` numbers apart, its columns side by
/// side. `depth` is at least 1.
void multiply(Index rows, Index depth, Index columns, const Matrix& x, const Matrix& y, Real* z,
              Index z_row, Real* buffer, Start start = Start::from_zero);

/// z[j, i] = x[i, j] for x of `rows` rows, in which as in z the columns lie side by side.
void transpose(Index rows, Index columns, const Real* x, Index x_row, Real* z, Index z_row);

}  // namespace segue
