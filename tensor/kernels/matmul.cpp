// A stack of products becomes as few large ones as its strides allow, and these are cut into parts
// for the threads: that is where the work is, and a product by itself is left to product.cpp.
#include "tensor/kernels/matmul.hpp"

#include <algorithm>

#include "tensor/kernels/loops.hpp"
#include "tensor/kernels/product.hpp"
#include "tensor/parallel.hpp"

namespace segue {
namespace {

constexpr Index products_per_thread = 2000000;  // fewer are not worth waking a thread for

Shape without_last(const Shape& shape) { return Shape({shape.begin(), shape.end() - 1}); }

// All products as loops over the matrices and, innermost, over the rows of each. A leading axis
// that only continues the rows of x and z, while y stands still, merges with the rows: [B, T, D]
// times [D, F] is one product of B * T rows.
Loops loops_over_rows(const Tensor& z, const Tensor& x, const Tensor& y) {
  Strides y_strides = without_last(y.strides());
  y_strides[y_strides.rank() - 1] = 0;
  Loops loops = merge_axes(without_last(z.shape()), without_last(z.strides()),
                           without_last(x.strides()), y_strides);
  if (loops.step(2) != 0) {  // matrices of one row, each with a y of its own
    loops.shape.push_back(1);
    for (Strides& strides : loops.strides) strides.push_back(0);
  }
  return loops;
}

Index parts_of(Index length, Index step) { return (length + step - 1) / step; }

}  // namespace

void multiply_all(Tensor& z, const Tensor& x, const Tensor& y) {
  const Loops loops = loops_over_rows(z, x, y);
  const Index rows = loops.row_length(), depth = x.dim(-1), columns = y.dim(-1);
  const Index x_column = x.strides()[x.rank() - 1];
  const Index y_row = y.strides()[y.rank() - 2], y_column = y.strides()[y.rank() - 1];
  Real* const out = z.data_in_place();
  // A part of the work is one tile's height of rows; a strip, the parts that share a block of
  // columns of one y.
  const Index parts = parts_of(rows, tile_rows), blocks = parts_of(columns, max_columns);
  const Index strips = z.size() / (rows * columns) * blocks;
  const Index grain = 1 + products_per_thread / (std::min<Index>(rows, tile_rows) * depth *
                                                 std::min(columns, max_columns));
  parallel_for(strips * parts, grain, [&](Index begin, Index end) {
    const auto buffer = allocate_storage(multiply_buffer_size(depth, columns));
    for (Index part = begin; part < end;) {
      const Index strip = part / parts, next = std::min(end, (strip + 1) * parts);
      const Index first = part % parts * tile_rows,
                  last = std::min(rows, (next - strip * parts) * tile_rows);
      const Index matrix = strip / blocks, column = strip % blocks * max_columns;
      multiply(
          last - first, depth, std::min(columns - column, max_columns),
          {x.data() + loops.row_offset(1, matrix) + first * loops.step(1), loops.step(1), x_column},
          {y.data() + loops.row_offset(2, matrix) + column * y_column, y_row, y_column},
          out + loops.row_offset(0, matrix) + first * loops.step(0) + column, loops.step(0),
          buffer->data);
      part = next;
    }
  });
}

}  // namespace segue
