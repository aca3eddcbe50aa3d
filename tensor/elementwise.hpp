// Arithmetic and functions element by element, with NumPy broadcasting.
#pragma once

#include "tensor/tensor.hpp"

namespace segue {

/// z = x + y, x - y, x y, x / y. Shapes broadcast; throws ShapeError naming both where they do not.
Tensor add(const Tensor& x, const Tensor& y, Where where = Where::current());
Tensor sub(const Tensor& x, const Tensor& y, Where where = Where::current());
Tensor mul(const Tensor& x, const Tensor& y, Where where = Where::current());
Tensor div(const Tensor& x, const Tensor& y, Where where = Where::current());

/// c x for a plain number c.
Tensor scale(const Tensor& x, Real c);

Tensor neg(const Tensor& x);

/// x where mask is 0, `value` where it is not. The mask broadcasts to x.
Tensor masked_fill(const Tensor& x, const Tensor& mask, Real value, Where where = Where::current());

/// x += y; y broadcasts to x.
void add_in_place(Tensor& x, const Tensor& y, Where where = Where::current());

/// True when no element is NaN or infinite.
bool all_finite(const Tensor& x);

}  // namespace segue
