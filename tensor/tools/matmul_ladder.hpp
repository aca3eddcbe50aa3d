// From three loops to the library's matrix product, one idea a rung: to read, to run and to time.
#pragma once

#include <string>
#include <vector>

#include "tensor/tensor.hpp"

namespace segue {

/// A way to compute z[i, j] = sum of x[i, p] * y[p, j]. All of them sum over p = 0, 1, .. in this
/// order, beginning with 0, as matmul_plain does: so all give the same bits wherever all round
/// alike (SEGUE_PORTABLE).
struct Rung {
  std::string name, idea;  // what it does that the rung below does not
  Tensor (*product)(const Tensor& x, const Tensor& y);

  /// x [n, d], of any strides, times y [d, m]. Throws ShapeError for other shapes.
  Tensor operator()(const Tensor& x, const Tensor& y, Where where = Where::current()) const;
};

/// From the definition, matmul_plain, to matmul. Only the last uses more than one thread.
std::vector<Rung> matmul_ladder();

}  // namespace segue
