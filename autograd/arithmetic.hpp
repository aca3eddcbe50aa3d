// Arithmetic on variables, with NumPy broadcasting.
#pragma once

#include "autograd/variable.hpp"

namespace segue {

/// z = x + y, x - y, x y, x / y. Throws ShapeError where the shapes do not broadcast.
Variable add(const Variable& x, const Variable& y, Where where = Where::current());
Variable sub(const Variable& x, const Variable& y, Where where = Where::current());
Variable mul(const Variable& x, const Variable& y, Where where = Where::current());
Variable div(const Variable& x, const Variable& y, Where where = Where::current());
Variable neg(const Variable& x, Where where = Where::current());
/// z = c x for a plain number c.
Variable scale(const Variable& x, Real c, Where where = Where::current());

/// What stands beside an operator: a variable or a number, and the source line, which operators
/// have no other way to learn.
struct Operand {
  Operand(const Variable& x, Where line = Where::current()) : variable(x), where(line) {}
  Operand(Real c, Where line = Where::current())
      : variable(Tensor::scalar(c), "", line), where(line) {}
  Variable variable;
  Where where;
};
inline Variable operator+(const Operand& x, const Operand& y) {
  return add(x.variable, y.variable, x.where);
}
inline Variable operator-(const Operand& x, const Operand& y) {
  return sub(x.variable, y.variable, x.where);
}
inline Variable operator*(const Operand& x, const Operand& y) {
  return mul(x.variable, y.variable, x.where);
}
inline Variable operator/(const Operand& x, const Operand& y) {
  return div(x.variable, y.variable, x.where);
}
inline Variable operator-(const Operand& x) { return neg(x.variable, x.where); }

}  // namespace segue
