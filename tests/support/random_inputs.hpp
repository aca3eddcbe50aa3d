// What several tests of gradients share: random inputs, comparisons, and a gradient check under every kind of strides.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "autograd/arithmetic.hpp"
#include "autograd/reductions.hpp"
#include "autograd/shaping.hpp"
#include "autograd/tools/gradient_check.hpp"
#include "tensor/random.hpp"
#include "tests/support/tensors.hpp"

namespace segue {

inline Tensor random_tensor(const Shape& shape, Real low = -1, Real high = 1, std::uint64_t seed = 7) {
  return Random(seed).uniform(shape, low, high);
}

/// Same shape, and every element within `tolerance` of the expected one, relative to numbers above 1.
inline void check_close(const Tensor& got, const Tensor& expected,
                        double tolerance = sizeof(Real) == 8 ? 1e-12 : 1e-5) {
  REQUIRE(to_string(got.shape()) == to_string(expected.shape()));
  const std::vector<Real> a = got.to_vector(), b = expected.to_vector();
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    const double wanted = static_cast<double>(b[i]);
    CHECK(std::abs(static_cast<double>(a[i]) - wanted) <= tolerance * std::max(1.0, std::abs(wanted)));
  }
}

/// The message of the ErrorType that f throws, or nothing when it throws none.
template <class ErrorType, class F>
std::string thrown_by(const F& f) {
  try {
    f();
  } catch (const ErrorType& error) {
    return error.what();
  }
  return "";
}

/// How an input of some shape is cut out of a parameter: as it is, as its transpose, as a window into it.
enum class View { plain, transposed, window };

inline Shape shape_behind(Shape shape, View view) {
  const int last = shape.rank() - 1;
  if (view == View::transposed && last > 0) std::swap(shape[last - 1], shape[last]);
  if (view == View::window && last >= 0) shape[last] += 3;
  return shape;
}
inline Variable seen(const Variable& x, View view) {
  if (view == View::transposed && x.shape().rank() > 1) return transpose(x, -1, -2);
  if (view == View::window && x.shape().rank() > 0) return narrow(x, -1, 2, x.dim(-1) - 3);
  return x;
}

using Function = std::function<Variable(const std::vector<Variable>&)>;

/// Holds the gradient of f, weighted by random numbers and summed, against central differences in every element of
/// every input. The inputs are random numbers of the given shapes, under each kind of strides. Double builds only.
inline void check_gradients(const Function& f, const std::vector<Shape>& shapes, Real low = -1, Real high = 1) {
  if (sizeof(Real) != 8) return;
  for (const View view : {View::plain, View::transposed, View::window}) {
    std::vector<Tensor> inputs;
    for (const Shape& shape : shapes) {
      inputs.push_back(random_tensor(shape_behind(shape, view), low, high, 100 + inputs.size()));
    }
    const GradientCheck check = check_gradient(
        [&](const std::vector<Variable>& variables) {
          std::vector<Variable> views;
          for (const Variable& variable : variables) views.push_back(seen(variable, view));
          const Variable z = f(views);
          return sum(mul(z, Variable(random_tensor(z.shape(), -1, 1, 99))));
        },
        inputs);
    CAPTURE(static_cast<int>(view));
    CAPTURE(to_string(check));
    CHECK(check.error < 1e-7);
  }
}

}  // namespace segue
