#include "tensor/elementwise.hpp"

#include <cmath>

#include "tensor/kernels/rows.hpp"
#include "tensor/map.hpp"

namespace segue {

Tensor add(const Tensor& x, const Tensor& y, Where where) {
  return map("add", x, y, where, [](Real a, Real b) { return a + b; });
}
Tensor sub(const Tensor& x, const Tensor& y, Where where) {
  return map("sub", x, y, where, [](Real a, Real b) { return a - b; });
}
Tensor mul(const Tensor& x, const Tensor& y, Where where) {
  return map("mul", x, y, where, [](Real a, Real b) { return a * b; });
}
Tensor div(const Tensor& x, const Tensor& y, Where where) {
  return map("div", x, y, where, [](Real a, Real b) { return a / b; });
}

Tensor scale(const Tensor& x, Real c) {
  return map(x, [c](Real a) { return c * a; });
}

Tensor neg(const Tensor& x) {
  return map(x, [](Real a) { return -a; });
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, Real value, Where where) {
  Tensor z = x.clone();
  const auto filled = [value](Real a, Real m) { return m != 0 ? value : a; };
  map_in_place(z, mask, filled, where);
  return z;
}

void add_in_place(Tensor& x, const Tensor& y, Where where) { map_in_place(x, y, Plus(), where); }
bool all_finite(const Tensor& x) {
  const Tensor flat = x.contiguous();
  const auto zero = [a = flat.data()](Index i) { return 0 * a[i]; };  // NaN where a is not finite
  return fold_row(flat.size(), Real(0), zero, Plus()) == 0;
}

}  // namespace segue
