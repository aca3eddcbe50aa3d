// The elementary functions against the standard library in long double, their identities, edges, and recorded bits.
#include "tensor/kernels/math.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "tensor/tools/math.hpp"
#include "tests/support/hash.hpp"

namespace segue::tensor_math_test {

namespace {

template <class T>
constexpr T inf = std::numeric_limits<T>::infinity();
template <class T>
constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();

// Raw draws only: the standard leaves its distributions unspecified.
struct Draws {
  std::mt19937_64 engine{20240607};
  double between(double low, double high) {
    return low + (high - low) * (static_cast<double>(engine() >> 11) * 0x1p-53);
  }
  // Every exponent and sign alike; now and then infinite or NaN.
  template <class T>
  T any() {
    if constexpr (sizeof(T) == 8)
      return std::bit_cast<double>(engine());
    else
      return std::bit_cast<float>(static_cast<std::uint32_t>(engine() >> 32));
  }
};

// How far `got` is from `want`, in the distance of neighbouring T there. Where T has no finite number near `want`,
// `got` must be what `want` rounds to, save at the very edge of overflow.
template <class T>
double ulps(T got, long double want) {
  const T nearest = static_cast<T>(want), largest = std::numeric_limits<T>::max();
  if (std::isnan(got) || std::isnan(nearest)) return std::isnan(got) == std::isnan(nearest) ? 0 : 1e9;
  if (std::isinf(got) || std::isinf(nearest)) {
    return got == nearest || std::min(std::abs(got), std::abs(nearest)) > largest * (1 - T{1e-6f}) ? 0 : 1e9;
  }
  const T size = std::min(std::abs(nearest), std::nextafter(largest, T{0}));
  const long double ulp = static_cast<long double>(std::nextafter(size, largest)) - static_cast<long double>(size);
  return static_cast<double>(std::abs(static_cast<long double>(got) - want) / ulp);
}

// The largest error of f, in ulp, over arguments of every exponent and denser ones where the functions bend.
template <class T, class F, class Truth>
double worst(const F& f, const Truth& truth) {
  Draws draws;
  double result = 0;
  for (int i = 0; i < 30000; ++i) {
    const T range = sizeof(T) == 8 ? 750 : 105;
    for (const T x : {draws.any<T>(), static_cast<T>(draws.between(-2, 2)), static_cast<T>(draws.between(0, 3)),
                      static_cast<T>(range * draws.between(-1, 1))}) {
      result = std::max(result, ulps<T>(f(x), truth(static_cast<long double>(x))));
    }
  }
  return result;
}

const auto our_exp = [](auto x) { return math::exp(x); };
const auto our_expm1 = [](auto x) { return math::expm1(x); };
const auto our_tanh = [](auto x) { return math::tanh(x); };
const auto our_sigmoid = [](auto x) { return math::sigmoid(x); };
const auto our_log = [](auto x) { return math::log(x); };

const auto true_exp = [](long double x) { return std::exp(x); };
const auto true_expm1 = [](long double x) { return std::expm1(x); };
const auto true_tanh = [](long double x) { return std::tanh(x); };
const auto true_sigmoid = [](long double x) { return 1 / (1 + std::exp(-x)); };
const auto true_log = [](long double x) { return std::log(x); };

template <class T, class F>
std::uint64_t hash_of(const F& f) {
  Draws draws;
  Hash hash;
  for (int i = 0; i < 5000; ++i) {
    hash.add(f(draws.any<T>()));
    hash.add(f(static_cast<T>(draws.between(-20, 20))));
  }
  return hash.value;
}

}  // namespace

TEST_CASE("exp, expm1, tanh, sigmoid and log stay within their bounds over all double numbers") {
  CHECK(worst<double>(our_exp, true_exp) < 2);
  CHECK(worst<double>(our_expm1, true_expm1) < 3);
  CHECK(worst<double>(our_tanh, true_tanh) < 4);
  CHECK(worst<double>(our_sigmoid, true_sigmoid) < 4);
  CHECK(worst<double>(our_log, true_log) < 2);
}

TEST_CASE("exp, expm1, tanh, sigmoid and log stay within their bounds over all float numbers") {
  CHECK(worst<float>(our_exp, true_exp) < 2);
  CHECK(worst<float>(our_expm1, true_expm1) < 3);
  CHECK(worst<float>(our_tanh, true_tanh) < 4);
  CHECK(worst<float>(our_sigmoid, true_sigmoid) < 4);
  CHECK(worst<float>(our_log, true_log) < 1);
}

TEST_CASE("the log of a subnormal number and of one next to 1 keeps its digits") {
  Draws draws;
  double result = 0;
  for (int i = 0; i < 20000; ++i) {
    const double subnormal = std::bit_cast<double>(draws.engine() >> (12 + i % 50));
    const double near_one = 1 + draws.between(-1, 1) * std::ldexp(1.0, -(i % 50));
    for (const double x : {subnormal, near_one}) result = std::max(result, ulps(math::log(x), true_log(x)));
  }
  CHECK(result < 2);
}

TEST_CASE("sin and cos are within 2e-16 up to 1e7, multiples of pi/2 included") {
  Draws draws;
  long double off = 0;
  for (int i = 0; i < 30000; ++i) {
    const double multiple = static_cast<double>(draws.engine() % 6366197) * 1.5707963267948966;
    for (const double x : {draws.between(-7, 7), draws.between(-1e4, 1e4), draws.between(-1e7, 1e7), multiple}) {
      const long double exact = x;
      off = std::max({off, std::abs(math::sin(x) - std::sin(exact)), std::abs(math::cos(x) - std::cos(exact))});
    }
  }
  CHECK(off < 2e-16L + std::numeric_limits<long double>::epsilon());
}

TEST_CASE("beyond 1e7 sin and cos lose digits slowly and stay within [-1, 1]") {
  Draws draws;
  double off = 0, largest = 0;
  for (int i = 0; i < 20000; ++i) {
    const double x = draws.between(-1e9, 1e9), y = draws.any<double>();
    off = std::max(off, std::abs(math::sin(x) - std::sin(x)));
    if (!std::isfinite(y)) continue;
    CHECK_FALSE(std::isnan(math::sin(y) + math::cos(y)));
    largest = std::max({largest, std::abs(math::sin(y)), std::abs(math::cos(y))});
  }
  CHECK(off < 2e-7);
  CHECK(largest <= 1);
  CHECK(std::isnan(math::sin(inf<double>)));
  CHECK(std::isnan(math::cos(-inf<double>)));
  CHECK(std::isnan(math::sin(not_a_number<double>)));
}

TEST_CASE("known values come out") {
  CHECK(math::exp(1.0) == doctest::Approx(2.71828182845904523536).epsilon(1e-15));
  CHECK(math::log(2.0) == doctest::Approx(0.69314718055994530942).epsilon(1e-15));
  CHECK(math::sigmoid(1.0) == doctest::Approx(0.73105857863000487925).epsilon(1e-15));
  CHECK(math::tanh(0.5) == doctest::Approx(0.46211715726000975850).epsilon(1e-15));
  CHECK(math::sin(1e7) == doctest::Approx(0.42054779319078249130).epsilon(1e-15));
  CHECK(math::cos(1e7) == doctest::Approx(-0.90727038618173956116).epsilon(1e-15));
}

TEST_CASE_TEMPLATE("zero, infinity and NaN give the limits", T, float, double) {
  const T zero = 0;
  CHECK(math::exp(zero) == 1);
  CHECK(math::exp(-zero) == 1);
  CHECK(math::exp(-inf<T>) == 0);
  CHECK(math::exp(inf<T>) == inf<T>);
  CHECK(math::exp(T{800}) == inf<T>);
  CHECK(math::exp(T{-800}) == 0);
  CHECK(math::expm1(zero) == 0);
  CHECK(math::expm1(-inf<T>) == -1);
  CHECK(math::expm1(inf<T>) == inf<T>);
  CHECK(math::tanh(zero) == 0);
  CHECK(std::signbit(math::tanh(-zero)));
  CHECK(math::tanh(inf<T>) == 1);
  CHECK(math::tanh(-inf<T>) == -1);
  CHECK(math::sigmoid(zero) == T(0.5));
  CHECK(math::sigmoid(inf<T>) == 1);
  CHECK(math::sigmoid(-inf<T>) == 0);
  CHECK(math::log(zero) == -inf<T>);
  CHECK(math::log(-zero) == -inf<T>);
  CHECK(math::log(T{1}) == 0);
  CHECK(math::log(inf<T>) == inf<T>);
  CHECK(std::isnan(math::log(T{-1})));
  CHECK(std::isnan(math::log(-inf<T>)));
  for (const T x : {math::exp(not_a_number<T>), math::expm1(not_a_number<T>), math::tanh(not_a_number<T>),
                    math::sigmoid(not_a_number<T>), math::log(not_a_number<T>)})
    CHECK(std::isnan(x));
}

TEST_CASE_TEMPLATE("tanh is odd to the last bit, sigmoid sums to 1 with its mirror, exp and log undo each other", T,
                   float, double) {
  Draws draws;
  const T epsilon = std::numeric_limits<T>::epsilon();
  for (int i = 0; i < 5000; ++i) {
    const T x = static_cast<T>(draws.between(-15, 15)), y = static_cast<T>(draws.between(-15, 15));
    REQUIRE(math::tanh(-x) == -math::tanh(x));
    REQUIRE(std::abs(math::sigmoid(x) + math::sigmoid(-x) - 1) <= 2 * epsilon);
    REQUIRE(std::abs(math::log(math::exp(x)) - x) <= 16 * epsilon);
    REQUIRE(std::abs(math::exp(x) * math::exp(y) / math::exp(x + y) - 1) <= 24 * epsilon);
  }
}

TEST_CASE("sine and cosine lie on the unit circle, odd and even") {
  Draws draws;
  for (int i = 0; i < 5000; ++i) {
    const double x = draws.between(-1e5, 1e5), s = math::sin(x), c = math::cos(x);
    REQUIRE(std::abs(s * s + c * c - 1) < 1e-15);
    REQUIRE(math::sin(-x) == -s);
    REQUIRE(math::cos(-x) == c);
  }
}

TEST_CASE_TEMPLATE("exp never falls where one reduction interval ends and the next begins", T, float, double) {
  const int first = sizeof(T) == 8 ? -1074 : -148, last = sizeof(T) == 8 ? 1022 : 126;
  for (int n = first; n <= last; ++n) {
    T x = static_cast<T>((n + 0.5) * 0.6931471805599453);
    for (int i = 0; i < 20; ++i) x = std::nextafter(x, -inf<T>);
    for (int i = 0; i < 40; ++i) {
      const T next = std::nextafter(x, inf<T>);
      REQUIRE(math::exp(next) >= math::exp(x));
      x = next;
    }
  }
}

TEST_CASE("pow with a small integer exponent multiplies, within one ulp for each factor") {
  Draws draws;
  for (int i = 0; i < 5000; ++i) {
    const double x = draws.between(-4, 4), y = static_cast<double>(draws.engine() % 129) - 64;
    const float xf = static_cast<float>(x);
    REQUIRE(math::pow(x, 2.0) == x * x);
    REQUIRE(math::pow(xf, 2.0f) == xf * xf);
    REQUIRE(math::pow(x, 1.0) == x);
    REQUIRE(math::pow(x, -1.0) == 1 / x);
    const long double truth = std::pow(static_cast<long double>(x), static_cast<long double>(y));
    if (std::abs(truth) < 1e300L) REQUIRE(ulps(math::pow(x, y), truth) <= std::abs(y));
  }
}

TEST_CASE("pow with any other exponent stays within its bound") {
  Draws draws;
  for (int i = 0; i < 20000; ++i) {
    const double x = std::exp(draws.between(-5, 5)), y = draws.between(-130, 130);
    const float xf = static_cast<float>(x), yf = static_cast<float>(y);
    const auto truth = [](long double base, long double exponent) { return std::pow(base, exponent); };
    REQUIRE(ulps(math::pow(x, y), truth(x, y)) < 2 * std::abs(y * std::log(x)) + 2);
    REQUIRE(ulps(math::pow(xf, yf), truth(xf, yf)) < 1);
  }
}

TEST_CASE_TEMPLATE("pow at its edges: zero, negative and infinite arguments", T, float, double) {
  const auto pow = [](double x, double y) { return math::pow(static_cast<T>(x), static_cast<T>(y)); };
  const T nan_base = not_a_number<T>;
  CHECK(pow(0, 0) == 1);
  CHECK(math::pow(nan_base, T{0}) == 1);
  CHECK(pow(0, 0.5) == 0);
  CHECK(pow(0, 3) == 0);
  CHECK(pow(0, 100) == 0);
  CHECK(pow(0, -1) == inf<T>);
  CHECK(pow(0, -0.5) == inf<T>);
  CHECK(pow(-2, 3) == -8);
  CHECK(pow(-2, -2) == T(0.25));
  CHECK(std::isnan(pow(-2, 0.5)));
  CHECK(pow(-1, 65) == -1);
  CHECK(pow(-1, 66) == 1);
  CHECK(pow(-1.25, 75) < 0);
  CHECK(pow(-1.25, 76) > 0);
  CHECK(pow(-1, 1e20) == 1);
  CHECK(pow(2, 1e20) == inf<T>);
  CHECK(pow(2, -1e20) == 0);
  CHECK(math::pow(T{2}, inf<T>) == inf<T>);
  CHECK(math::pow(T{2}, -inf<T>) == 0);
  CHECK(math::pow(T{1}, inf<T>) == 1);
  CHECK(math::pow(inf<T>, T(0.5)) == inf<T>);
  CHECK(math::pow(inf<T>, T(-0.5)) == 0);
  CHECK(std::isnan(math::pow(nan_base, T{2})));
  CHECK(std::isnan(math::pow(nan_base, T(0.5))));
  CHECK(std::isnan(math::pow(T{2}, not_a_number<T>)));
}

#ifdef SEGUE_PORTABLE
TEST_CASE("in the portable build every result has its recorded bits") {
  CHECK(hash_of<float>(our_exp) == 0x0be8749a31ee4542);
  CHECK(hash_of<double>(our_exp) == 0xe7e1d975a43514e3);
  CHECK(hash_of<float>(our_expm1) == 0x9c172ab5b606ccd4);
  CHECK(hash_of<double>(our_expm1) == 0x51f9ea584b008e69);
  CHECK(hash_of<float>(our_tanh) == 0x2dc9e091d71180ce);
  CHECK(hash_of<double>(our_tanh) == 0xc60c68bbdf810863);
  CHECK(hash_of<float>(our_sigmoid) == 0x0968511e6d181a17);
  CHECK(hash_of<double>(our_sigmoid) == 0xad8c01b48a3fa69d);
  CHECK(hash_of<float>(our_log) == 0x7e8f45f3ab351783);
  CHECK(hash_of<double>(our_log) == 0x5fc4ec7caf7e80e1);
  CHECK(hash_of<double>([](double x) { return math::sin(x); }) == 0x1379c03c70a5da8c);
  CHECK(hash_of<double>([](double x) { return math::cos(x); }) == 0x4a46c380f64b1dba);
  CHECK(hash_of<double>([](double x) { return math::pow(std::abs(x), 0.3); }) == 0x5d01a21dcedb7677);
  CHECK(hash_of<double>([](double x) { return math::pow(x, 7.0); }) == 0xeafcd4fc54f12ab5);
}
#endif

}  // namespace segue::tensor_math_test
