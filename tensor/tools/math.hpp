// More elementary functions of our own, made of e^x: other models need them, the paper's does not.
#pragma once

#include "tensor/kernels/math.hpp"

namespace segue::math {

/// e^x - 1 within 3 ulp, also near 0 where exp(x) - 1 would lose its digits.
template <class T>
T expm1(T x) {
  const ExpParts<T> e = exp_parts(x);
  return (e.p * e.a + (e.a - 1 / e.b)) * e.b;
}

/// Hyperbolic tangent within 4 ulp, odd to the last bit: m / (m + 2) with m = e^2|x| - 1. Past the
/// cap it is 1 rounded.
template <class T>
T tanh(T x) {
  const T m = expm1(at_most(2 * std::abs(x), T(40)));
  return std::copysign(m / (m + 2), x);
}

/// 1 / (1 + e^-x) within 4 ulp for either sign: only e^-|x| is taken, which cannot overflow.
template <class T>
T sigmoid(T x) {
  const T e = exp(-std::abs(x));
  return (x < 0 ? e : T(1)) / (1 + e);
}

}  // namespace segue::math
