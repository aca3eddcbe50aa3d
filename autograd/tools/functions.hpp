// Functions that other models need; the paper's does without them.
#pragma once

#include "autograd/variable.hpp"

namespace segue {

Variable sqrt(const Variable& x, Where where = Where::current());
Variable exp(const Variable& x, Where where = Where::current());
Variable log(const Variable& x, Where where = Where::current());
Variable tanh(const Variable& x, Where where = Where::current());
Variable sigmoid(const Variable& x, Where where = Where::current());
/// z = x^y, either of which may be a constant. At x = 0 the gradients are the limits from the
/// right: 0^0 has dx = 0.
Variable pow(const Variable& x, const Variable& y, Where where = Where::current());
Variable pow(const Variable& x, Real y, Where where = Where::current());
Variable pow(Real x, const Variable& y, Where where = Where::current());

/// Over the named axes. Elements that share the maximum share the gradient. Throws ShapeError over
/// no elements.
Variable max(const Variable& x, const Axes& axes, bool keep = false,
             Where where = Where::current());
/// x_i - log sum_j exp(x_j) along `axis`.
Variable log_softmax(const Variable& x, int axis = -1, Where where = Where::current());
/// As Tensor::broadcast_to; the gradients of all repetitions are summed.
Variable broadcast_to(const Variable& x, const Shape& shape, Where where = Where::current());

/// The Euclidean length of x over the named axes, with gradient 0 where it is 0, although the slope
/// of sqrt there is infinite.
Variable norm(const Variable& x, const Axes& axes, bool keep = false,
              Where where = Where::current());

}  // namespace segue
