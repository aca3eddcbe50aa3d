#include "tensor/tools/matmul_ladder.hpp"

#include <algorithm>
#include <cstring>

#include "tensor/fail.hpp"
#include "tensor/kernels/product.hpp"
#include "tensor/kernels/simd.hpp"
#include "tensor/matmul.hpp"

namespace segue {
namespace {

// What a rung works on: z += x y, where z begins with zeros.
struct Operands {
  Index rows, depth, columns;
  Matrix x;
  const Real* y;
  Index y_row, y_column;  // y[p, j] is y[p * y_row + j * y_column] wherever a panel begins, the
                          // rest of it beside that
  Real* z;
  Index z_row;
};

Operands operands(const Tensor& x, const Tensor& y, Tensor& z) {
  const Index m = y.dim(1);
  return {x.dim(0), x.dim(1),          m, {x.data(), x.strides()[0], x.strides()[1]}, y.data(), m,
          1,        z.data_in_place(), m};
}

// The columns from the j-th on, or those before it, of y as it lies.
Operands columns_from(Operands a, Index j) {
  a.columns -= j, a.y += j, a.z += j;
  return a;
}
Operands columns_before(Operands a, Index j) {
  a.columns = j;
  return a;
}

// ---- Another order of the loops
// -----------------------------------------------------------------------------------

// The innermost loop walks along a row of y and a row of z.
void add_by_rows(const Operands& a) {
  for (Index i = 0; i < a.rows; ++i) {
    Real* const z = a.z + i * a.z_row;
    for (Index p = 0; p < a.depth; ++p) {
      const Real x = a.x.data[i * a.x.row + p * a.x.column];
      const Real* const y = a.y + p * a.y_row;
      for (Index j = 0; j < a.columns; ++j) z[j] += x * y[j];
    }
  }
}

Tensor product_by_rows(const Tensor& x, const Tensor& y) {
  Tensor z = Tensor::zeros({x.dim(0), y.dim(1)});
  add_by_rows(operands(x, y, z));
  return z;
}

// ---- Sums that stay in registers
// ----------------------------------------------------------------------------------

Vector load_vector(const Real* from) {
  Vector v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}

// z += x y for a tile of so many rows and vectors. Its sums are registers from the first p to the
// last, provided that the loops over the tile are unrolled.
template <int rows, int vectors>
void add_tile(Index depth, Matrix x, const Real* y, Index y_row, Real* z, Index z_row) {
  Vector sums[rows * vectors];
#pragma GCC unroll 16
  for (int s = 0; s < rows * vectors; ++s)
    sums[s] = load_vector(z + s / vectors * z_row + s % vectors * vector_width);
  for (Index p = 0; p < depth; ++p, x.data += x.column, y += y_row) {
#pragma GCC unroll 16
    for (int s = 0; s < rows * vectors; ++s) {
      sums[s] += x.data[s / vectors * x.row] * load_vector(y + s % vectors * vector_width);
    }
  }
#pragma GCC unroll 16
  for (int s = 0; s < rows * vectors; ++s)
    std::memcpy(z + s / vectors * z_row + s % vectors * vector_width, &sums[s], sizeof(Vector));
}

// Rows that are no whole tile, or columns that are none, are left over for tiles of one row, or for
// add_by_rows.
template <int rows, int vectors>
void add_row_of_tiles(const Operands& a, Index i, const Matrix& x) {
  for (Index j = 0; j < a.columns; j += vectors * vector_width)
    add_tile<rows, vectors>(a.depth, x, a.y + j * a.y_column, a.y_row, a.z + i * a.z_row + j,
                            a.z_row);
}

Matrix from_row(const Matrix& x, Index i) { return {x.data + i * x.row, x.row, x.column}; }

template <int rows, int vectors>
void add_tiles(const Operands& a) {
  Index i = 0;
  for (; i + rows <= a.rows; i += rows) add_row_of_tiles<rows, vectors>(a, i, from_row(a.x, i));
  for (; i < a.rows; ++i) add_row_of_tiles<1, vectors>(a, i, from_row(a.x, i));
}

template <int rows, int vectors>
Tensor product_of_tiles(const Tensor& x, const Tensor& y) {
  Tensor z = Tensor::zeros({x.dim(0), y.dim(1)});
  const Operands a = operands(x, y, z);
  const Index whole = a.columns / (vectors * vector_width) * (vectors * vector_width);
  add_tiles<rows, vectors>(columns_before(a, whole));
  add_by_rows(columns_from(a, whole));
  return z;
}

// ---- Copies that lie as they are read
// -----------------------------------------------------------------------------

constexpr int tile_vectors = 2;
constexpr Index tile_width = tile_vectors * vector_width;

// Panels of y, each as wide as a tile, its rows one behind the other.
Operands with_panels(Operands a, Real* packed) {
  for (Index j = 0; j < a.columns; j += tile_width) {
    for (Index p = 0; p < a.depth; ++p)
      std::memcpy(packed + j * a.depth + p * tile_width, a.y + p * a.y_row + j,
                  tile_width * sizeof(Real));
  }
  a.y = packed, a.y_row = tile_width, a.y_column = a.depth;
  return a;
}

Tensor product_of_panels(const Tensor& x, const Tensor& y) {
  Tensor z = Tensor::zeros({x.dim(0), y.dim(1)});
  const Operands a = operands(x, y, z);
  const Index whole = a.columns / tile_width * tile_width;
  const auto packed = allocate_storage(a.depth * whole);
  add_tiles<tile_rows, tile_vectors>(with_panels(columns_before(a, whole), packed->data));
  add_by_rows(columns_from(a, whole));
  return z;
}

// The rows of x that a tile reads, those of one p side by side.
void add_tiles_of_packed_x(const Operands& a) {
  const auto packed = allocate_storage(tile_rows * a.depth);
  Index i = 0;
  for (; i + tile_rows <= a.rows; i += tile_rows) {
    const Matrix x = from_row(a.x, i);
    for (Index p = 0; p < a.depth; ++p) {
      for (Index r = 0; r < tile_rows; ++r)
        packed->data[p * tile_rows + r] = x.data[r * x.row + p * x.column];
    }
    add_row_of_tiles<tile_rows, tile_vectors>(a, i, {packed->data, 1, tile_rows});
  }
  for (; i < a.rows; ++i) add_row_of_tiles<1, tile_vectors>(a, i, from_row(a.x, i));
}

// ---- Blocks that stay in the cache
// --------------------------------------------------------------------------------

constexpr Index block_depth = 256, block_columns = 512;

using AddTiles = void (*)(const Operands&);

template <AddTiles add>
Tensor product_of_blocks(const Tensor& x, const Tensor& y) {
  Tensor z = Tensor::zeros({x.dim(0), y.dim(1)});
  const Operands a = operands(x, y, z);
  const Index whole = a.columns / tile_width * tile_width;
  const auto packed = allocate_storage(block_depth * block_columns);
  for (Index j = 0; j < whole; j += block_columns) {
    for (Index p = 0; p < a.depth; p += block_depth) {
      Operands block = columns_before(columns_from(a, j), std::min(whole - j, block_columns));
      block.depth = std::min(a.depth - p, block_depth);
      block.x.data += p * a.x.column, block.y += p * a.y_row;
      add(with_panels(block, packed->data));
    }
  }
  add_by_rows(columns_from(a, whole));
  return z;
}

Tensor product_of_library(const Tensor& x, const Tensor& y) { return matmul(x, y); }
Tensor product_by_definition(const Tensor& x, const Tensor& y) { return matmul_plain(x, y); }

}  // namespace

Tensor Rung::operator()(const Tensor& x, const Tensor& y, Where where) const {
  if (x.rank() != 2 || y.rank() != 2 || x.dim(1) != y.dim(0)) {
    fail<ShapeError>(where, "matmul_ladder: expected [n, d] and [d, m], got shapes {} and {}",
                     x.shape(), y.shape());
  }
  return product(x, y.contiguous());
}

std::vector<Rung> matmul_ladder() {
  return {{"three loops", "the definition: i, j, p", product_by_definition},
          {"rows", "i, p, j: a row of y at a time", product_by_rows},
          {"one vector", "its sums stay in a register", product_of_tiles<1, 1>},
          {"four rows", "four sums at a time", product_of_tiles<4, 1>},
          {"tiles", "what is loaded is used more often", product_of_tiles<tile_rows, tile_vectors>},
          {"panels", "y is copied as it is read", product_of_panels},
          {"blocks", "what is copied fits the cache",
           product_of_blocks<add_tiles<tile_rows, tile_vectors>>},
          {"packed x", "x is copied, too", product_of_blocks<add_tiles_of_packed_x>},
          {"matmul", "the library", product_of_library}};
}

}  // namespace segue
