// A product of matrices spends its time waiting for memory unless every number that is loaded is
// used several times. So it is computed in tiles whose sums stay in registers, over blocks that
// stay in the cache.
#include "tensor/kernels/product.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "tensor/kernels/simd.hpp"

namespace segue {
namespace {

constexpr int max_vectors = 2;
constexpr Index panel_width = max_vectors * vector_width;

// At most depth_block * max_columns numbers of y are worked on at a time: they stay in the
// second-level cache.
constexpr Index depth_block = 256;

// Vectors at any address, aligned or not.
template <class V = Vector>
V load(const Real* from) {
  V v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}
template <class V>
void store(Real* to, V v) {
  std::memcpy(to, &v, sizeof(v));
}

// The innermost loops: z (+)= x y for a tile, whose sums stay in registers from the first p to the
// last. That takes loops over the tile that are unrolled, all of them, before the compiler places
// the array: hence the pragmas.
template <int rows, int vectors>
void tile(Index depth, const Matrix& x, const Real* y, Index y_row, Real* z, Index z_row,
          bool continued) {
  Vector sums[rows * vectors] = {};
  if (continued) {
#pragma GCC unroll 16
    for (int s = 0; s < rows * vectors; ++s)
      sums[s] = load(z + s / vectors * z_row + s % vectors * vector_width);
  } else {  // the sums are to be stored at lines that may be far away: asked for now, they are near
            // by then
#pragma GCC unroll 16
    for (int s = 0; s < rows * vectors; ++s)
      __builtin_prefetch(z + s / vectors * z_row + s % vectors * vector_width, 1);
  }
  const Real* xp = x.data;
  for (Index p = 0; p < depth; ++p, xp += x.column, y += y_row) {
#pragma GCC unroll 16
    for (int s = 0; s < rows * vectors; ++s) {
      sums[s] += xp[s / vectors * x.row] * load(y + s % vectors * vector_width);
    }
  }
#pragma GCC unroll 16
  for (int s = 0; s < rows * vectors; ++s)
    store(z + s / vectors * z_row + s % vectors * vector_width, sums[s]);
}

using Tile = void (*)(Index, const Matrix&, const Real*, Index, Real*, Index, bool);

// tile<rows, vectors> is tiles[vectors - 1][rows - 1]
template <int vectors, int... less>
constexpr std::array<Tile, tile_rows> tiles_of_width(std::integer_sequence<int, less...>) {
  return {tile<less + 1, vectors>...};
}
constexpr auto heights = std::make_integer_sequence<int, tile_rows>();
constexpr std::array<Tile, tile_rows> tiles[max_vectors] = {tiles_of_width<1>(heights),
                                                            tiles_of_width<2>(heights)};

using Four = Real __attribute__((vector_size(4 * sizeof(Real))));

// Four rows of four numbers, exchanged with their columns.
void transpose_4x4(const Real* from, Index step, Real* to, Index to_step) {
  const Four a = load<Four>(from), b = load<Four>(from + step);
  const Four c = load<Four>(from + 2 * step), d = load<Four>(from + 3 * step);
  const Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5),
             ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5),
             cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  store(to, __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5));
  store(to + to_step, __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7));
  store(to + 2 * to_step, __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
  store(to + 3 * to_step, __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
}

// Copies a matrix in panels of `width` columns, each panel row after row without gaps; zeros fill
// up the last one. It reads along whatever lies side by side in memory.
template <Index width>
void pack(Index rows, Index columns, const Matrix& m, Real* packed) {
  constexpr Index together =
      8;  // rows that are copied side by side, so many as the processor reads ahead
  const Index whole = m.column == 1 ? columns / width * width : 0;
  for (Index first = 0; whole > 0 && first < rows; first += together) {
    for (Index j = 0; j < whole; j += width) {
      for (Index i = first; i < std::min(first + together, rows); ++i) {
        std::memcpy(packed + j * rows + i * width, m.data + i * m.row + j, width * sizeof(Real));
      }
    }
  }
  for (Index j = whole; j < columns; j += width) {
    Real* const panel = packed + j * rows;
    const Real* const from = m.data + j * m.column;
    const Index wide = std::min(columns - j, width);
    if (wide < width) std::fill_n(panel, rows * width, Real{0});
    if (m.row == 1) {
      transpose(wide, rows, from, m.column, panel, width);
    } else {
      for (Index i = 0; i < rows; ++i) {
        for (Index c = 0; c < wide; ++c) panel[i * width + c] = from[i * m.row + c * m.column];
      }
    }
  }
}

// A tile at the right edge of z: the columns that do not exist are computed in a scratch tile and
// dropped.
void edge_tile(Tile run, Index rows, Index columns, Index depth, const Matrix& x, const Real* y,
               Index y_row, Real* z, Index z_row, bool continued) {
  alignas(vector_bytes) Real scratch[tile_rows * panel_width] = {};
  for (Index i = 0; continued && i < rows; ++i)
    std::copy_n(z + i * z_row, columns, scratch + i * panel_width);
  run(depth, x, y, y_row, scratch, panel_width, continued);
  for (Index i = 0; i < rows; ++i) std::copy_n(scratch + i * panel_width, columns, z + i * z_row);
}

Index round_up(Index n, Index step) { return (n + step - 1) / step * step; }

// z (+)= x y for one block of y that fits the cache.
void multiply_block(Index rows, Index depth, Index columns, const Matrix& x, const Matrix& y,
                    Real* z, Index z_row, Real* buffer, bool continued) {
  const bool pack_y = y.column != 1 || (rows > 2 * tile_rows && depth * columns > 8192);
  const Index direct = pack_y                        ? 0
                       : columns % vector_width == 0 ? columns
                                                     : columns / panel_width * panel_width;
  Real* const packed_x = buffer + round_up(columns - direct, panel_width) * depth;
  pack<panel_width>(depth, columns - direct, {y.data + direct * y.column, y.row, y.column}, buffer);
  const bool pack_x = x.column != 1 && columns > 4 * panel_width;  // else it is read as it lies
  for (Index i = 0; i < rows; i += tile_rows) {
    const Index high = std::min<Index>(rows - i, tile_rows);
    Matrix xi{x.data + i * x.row, x.row, x.column};
    if (pack_x) {
      pack<tile_rows>(depth, high, {xi.data, x.column, x.row}, packed_x);
      xi = {packed_x, 1, tile_rows};
    }
    for (Index j = 0; j < columns; j += panel_width) {
      const Index wide = std::min(columns - j, panel_width);
      const Tile run = tiles[(wide - 1) / vector_width][static_cast<std::size_t>(high - 1)];
      const Real* const yj = j < direct ? y.data + j : buffer + (j - direct) * depth;
      const Index yj_row = j < direct ? y.row : panel_width;
      if (wide % vector_width == 0) {
        run(depth, xi, yj, yj_row, z + i * z_row + j, z_row, continued);
      } else {
        edge_tile(run, high, wide, depth, xi, yj, yj_row, z + i * z_row + j, z_row, continued);
      }
    }
  }
}

}  // namespace

void transpose(Index rows, Index columns, const Real* x, Index x_row, Real* z, Index z_row) {
  const Index down = rows / 4 * 4, across = columns / 4 * 4;  // in squares, as far as these go
  for (Index i = 0; i < down; i += 4) {
    for (Index j = 0; j < across; j += 4)
      transpose_4x4(x + i * x_row + j, x_row, z + j * z_row + i, z_row);
  }
  for (Index i = 0; i < rows; ++i) {
    for (Index j = i < down ? across : 0; j < columns; ++j) z[j * z_row + i] = x[i * x_row + j];
  }
}

Index multiply_buffer_size(Index depth, Index columns) {
  return std::min(depth, depth_block) *
         (round_up(std::min(columns, max_columns), panel_width) + tile_rows);
}

void multiply(Index rows, Index depth, Index columns, const Matrix& x, const Matrix& y, Real* z,
              Index z_row, Real* buffer, Start start) {
  for (Index j = 0; j < columns; j += max_columns) {
    for (Index p = 0; p < depth; p += depth_block) {
      multiply_block(rows, std::min(depth - p, depth_block), std::min(columns - j, max_columns),
                     {x.data + p * x.column, x.row, x.column},
                     {y.data + p * y.row + j * y.column, y.row, y.column}, z + j, z_row, buffer,
                     p > 0 || start == Start::from_z);
    }
  }
}

}  // namespace segue
