// Elementary functions of our own. The standard leaves the last bits of std::exp and its kin to
// each library; these use only + - * /, comparisons and the bit layout of IEEE numbers, so without
// contraction (the portable build) they give the same bits on every machine. None of them but pow
// branches, so loops over them become vector code.
//
// The recipe is always the same: reduce the argument to a short interval around 0 by an identity,
// use a polynomial there, undo the reduction. The polynomials were fitted by Remez exchange in
// 60-digit arithmetic, so that the largest error over the interval is as small as the degree
// allows; that error stands beside each. "ulp" below is the distance between neighbouring numbers
// at the result, and every bound in ulp is one that tests/tensor/math_test.cpp holds. A NaN
// argument gives NaN, unless told otherwise.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace segue::math {

// std::min and std::max in a form that keeps NaN.
template <class T>
T at_most(T x, T limit) {
  return limit < x ? limit : x;
}
template <class T>
T at_least(T x, T limit) {
  return x < limit ? limit : x;
}

// c0 + c1 x + c2 x^2 + .. by Horner's rule.
template <class T>
T polynomial(T, T c) {
  return c;
}
template <class T, class... Rest>
T polynomial(T x, T c, Rest... rest) {
  return c + x * polynomial(x, rest...);
}

// Rounding to an integer without a call: in 2^52 <= t < 2^53 (float: 2^23, 2^24) neighbouring
// numbers are 1 apart, so x + round_magic is rounded to an integer, which then stands in the low
// bits of the sum, in two's complement.
inline constexpr double round_magic = 0x1.8p52;
inline constexpr float round_magic_float = 0x1.8p23f;

// 2^n, given an integer whose low 12 (float: 9) bits are those of n: n + bias moved to the place of
// the exponent.
inline double power_of_two(std::uint64_t n) { return std::bit_cast<double>((n + 1023) << 52); }
inline float power_of_two(std::uint32_t n) { return std::bit_cast<float>((n + 127) << 23); }

// e^x = 2^n e^r with n = round(x / ln 2) and r = x - n ln 2, so |r| <= ln 2 / 2. ln 2 is split in
// two; the first part is so short that n times it is exact. p = e^r - 1 comes without the 1, which
// keeps its digits when x is small. 2^n goes in two steps, a * b, since n may lie outside the
// exponents that a number can have: e^x = (p * a + a) * b.
template <class T>
struct ExpParts {
  T p, a, b;
};
inline ExpParts<float> exp_parts(float x) {
  x = at_least(at_most(x, 90.0f), -105.0f);  // e^90 is infinite already, e^-105 zero
  const float shifted = x * 0x1.715476p+0f + round_magic_float;
  const float n = shifted - round_magic_float;
  const float r = (x - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
  const float q =
      polynomial(r, 0x1.fffffcp-2f, 0x1.55549p-3f, 0x1.5558f4p-5f, 0x1.123a36p-7f, 0x1.6a23a4p-10f);
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(shifted), half = bits >> 1;
  return {r + r * r * q, power_of_two(half), power_of_two(bits - half)};  // 2^-28.3
}
inline ExpParts<double> exp_parts(double x) {
  x = at_least(at_most(x, 711.0), -746.0);
  const double shifted = x * 0x1.71547652b82fep+0 + round_magic;
  const double n = shifted - round_magic;
  const double r = (x - n * 0x1.62e42fee00000p-1) - n * 0x1.a39ef35793c76p-33;
  const double q = polynomial(r, 0x1.000000000000ap-1, 0x1.55555555554f9p-3, 0x1.5555555550827p-5,
                              0x1.1111111127d82p-7, 0x1.6c16c1843e44ap-10, 0x1.a01a0129f2a97p-13,
                              0x1.a01999d257aa1p-16, 0x1.71df25da40849p-19, 0x1.28adab1451b98p-22,
                              0x1.ad7f28a56f8c3p-26);
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(shifted), half = bits >> 1;
  return {r + r * r * q, power_of_two(half), power_of_two(bits - half)};  // 2^-57.9
}

/// e^x within 2 ulp, gradual underflow included. exp(0) = 1, exp(-inf) = 0, exp(inf) = inf; too
/// large gives inf.
template <class T>
T exp(T x) {
  const ExpParts<T> e = exp_parts(x);
  return (e.p * e.a + e.a) * e.b;
}

/// Natural logarithm within 2 ulp, subnormal x included. log(0) = -inf, log(inf) = inf, NaN below
/// 0. x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), and log(1 + f) = 2 atanh(s) with s
/// = f / (2 + f). The series 2 s + s R(s^2) is rearranged to f - f^2/2 + s (f^2/2 + R), whose
/// largest term f is exact.
inline double log(double x) {
  constexpr std::uint64_t sqrt_half = std::bit_cast<std::uint64_t>(0x1.6a09e667f3bcdp-1);
  constexpr std::uint64_t one = std::bit_cast<std::uint64_t>(1.0),
                          mantissa = (std::uint64_t{1} << 52) - 1;
  const bool subnormal = x < std::numeric_limits<double>::min();
  const std::uint64_t bits =
      std::bit_cast<std::uint64_t>(subnormal ? x * 0x1p54 : x) + (one - sqrt_half);
  // k + 1023 is now the exponent field; as the low bits of a number near 2^52 it turns into a
  // double.
  const double biased = std::bit_cast<double>((bits >> 52) | std::bit_cast<std::uint64_t>(0x1p52));
  const double k = biased - (subnormal ? 0x1p52 + 1023 + 54 : 0x1p52 + 1023);
  const double f = std::bit_cast<double>((bits & mantissa) + sqrt_half) - 1;
  const double s = f / (2 + f), z = s * s, half_square = 0.5 * f * f;
  const double r =
      z * polynomial(z, 0x1.5555555555592p-1, 0x1.999999997fdb0p-2, 0x1.24924941f1906p-2,
                     0x1.c71c5209009fep-3, 0x1.74663efc76c5dp-3, 0x1.39a1b89732245p-3,
                     0x1.2f0579fe6208ap-3);  // 2^-59.5
  const double y = k * 0x1.62e42fee00000p-1 +
                   (f - (half_square - (s * (half_square + r) + k * 0x1.a39ef35793c76p-33)));
  const double infinity = std::numeric_limits<double>::infinity();
  const double edge = x == 0          ? -infinity
                      : x == infinity ? infinity
                                      : std::numeric_limits<double>::quiet_NaN();
  return x > 0 && x < infinity ? y : edge;
}
inline float log(float x) { return static_cast<float>(log(static_cast<double>(x))); }

// sin(x + quarters * pi/2). x = n pi/2 + r with |r| <= pi/4; n + quarters, modulo 4, picks sin r,
// cos r, -sin r, -cos r. pi/2 is split in three; n times either of the first two parts is exact for
// n < 2^24.
inline double sin_quarters(double x, unsigned quarters) {
  const double shifted = x * 0x1.45f306dc9c883p-1 + round_magic;
  const double n = shifted - round_magic;
  const double exact = x - n * 0x1.921fb54p+0;
  const double reduced = (exact - n * 0x1.10b4611p-30) - n * 0x1.4c4c6628b80dcp-59;
  const double r = at_least(at_most(reduced, 0.7854), -0.7854);  // cuts nothing while n is exact
  const double z = r * r;
  const double p =
      polynomial(z, -0x1.5555555555549p-3, 0x1.111111110f878p-7, -0x1.a01a019c115a9p-13,
                 0x1.71de35777dd6cp-19, -0x1.ae5e660c6db18p-26, 0x1.5d92f326d4d76p-33);
  const double sine = r + r * z * p;  // 2^-58.0
  const double q =
      polynomial(z, 0x1.555555555554cp-5, -0x1.6c16c16c1517cp-10, 0x1.a01a019cb188fp-16,
                 -0x1.27e4f809c8d63p-22, 0x1.1ee9ebcd0e963p-29, -0x1.8fae8d6099bf1p-37);
  const double near_one = 1 - 0.5 * z;
  const double cosine =
      near_one + (((1 - near_one) - 0.5 * z) + z * z * q);  // adds what near_one lost; 2^-64.2
  // An odd number is one whose half is no integer. (A test of its last bit would be no vector code
  // on older machines.)
  const double half = 0.5 * (n + static_cast<double>(quarters));
  const double y = (half + round_magic) - round_magic != half ? cosine : sine;
  const std::uint64_t quadrant = std::bit_cast<std::uint64_t>(shifted) + quarters;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(y) ^ ((quadrant & 2) << 62));
}

/// Sine and cosine of x in radians, with an absolute error below 2e-16 for |x| <= 1e7. Farther out
/// the error grows with |x| (about 1e-7 at 1e9), but the result stays within [-1, 1]. NaN for
/// infinite x.
inline double sin(double x) { return sin_quarters(x, 0); }
inline double cos(double x) { return sin_quarters(x, 1); }

/// x^y. An integer y with |y| <= 64 multiplies repeatedly, so that pow(x, 2) is x * x to the bit,
/// with an error below |y| ulp (for y < 0 a subnormal result may be 0). Other y go through exp(y
/// log |x|), with an error below 2 |y log x| + 2 ulp. pow(x, 0) = 1 for every x; pow(0, y) is 0 for
/// y > 0 and inf for y < 0; a negative x has powers for integer y only, else NaN.
inline double pow(double x, double y) {
  const bool huge = !(std::abs(y) < 0x1p53);  // as doubles these are even integers, or not finite
  const bool integer = huge ? y == y : y == static_cast<double>(static_cast<std::int64_t>(y));
  if (integer && std::abs(y) <= 64) {
    double result = 1, square = x;
    for (int n = static_cast<int>(std::abs(y)); n > 0; n /= 2, square *= square) {
      if (n % 2 == 1) result *= square;
    }
    return y < 0 ? 1 / result : result;
  }
  const double size = std::abs(x) == 1 && integer ? 1 : exp(y * log(std::abs(x)));
  if (!(x < 0)) return size;
  if (!integer) return std::numeric_limits<double>::quiet_NaN();
  return !huge && static_cast<std::int64_t>(y) % 2 != 0 ? -size : size;
}
/// Worked out in double and rounded once: within 1 ulp.
inline float pow(float x, float y) {
  return static_cast<float>(pow(static_cast<double>(x), static_cast<double>(y)));
}

}  // namespace segue::math
