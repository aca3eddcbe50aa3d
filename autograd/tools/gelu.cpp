#include "autograd/tools/gelu.hpp"

#include <cmath>
#include <numbers>

#include "tensor/map.hpp"
#include "tensor/tools/math.hpp"

namespace segue {
namespace {

constexpr Real gelu_cubic = Real(0.044715);
const Real gelu_slope = static_cast<Real>(std::sqrt(2 / std::numbers::pi));

Real gelu_tanh(Real x) { return math::tanh(gelu_slope * (x + gelu_cubic * x * x * x)); }

}  // namespace

// z = x/2 (1 + t), t = tanh(k (x + c x^3))
struct Gelu : Node {
  Saved x{this};
  void backward(
      const Tensor& dz) override {  // dx = dz (1/2 (1 + t) + x/2 (1 - t^2) k (1 + 3 c x^2))
    accumulate(0, map("gelu", dz, x, where, [](Real d, Real a) {
                 const Real t = gelu_tanh(a);
                 return d * Real(0.5) *
                        (1 + t + a * (1 - t * t) * gelu_slope * (1 + 3 * gelu_cubic * a * a));
               }));
  }
};

Variable gelu(const Variable& x, Where where) {
  auto op = make_node<Gelu>();
  op->x = x.value();
  const Tensor z = map(op->x, [](Real a) { return Real(0.5) * a * (1 + gelu_tanh(a)); });
  return record("gelu", op, z, {x}, where);
}

}  // namespace segue
