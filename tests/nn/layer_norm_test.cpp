#include "nn/layer_norm.hpp"
#include "nn/tools/layer_norm_plain.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "autograd/backward.hpp"
#include "tensor/elementwise.hpp"
#include "tensor/parallel.hpp"
#include "tensor/reduce.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::nn_layer_norm_test {

namespace {

const Tensor ones = Tensor::full({4}, 1), zeros = Tensor::zeros({4});

Tensor normalized(const Tensor& x) {
  const Index width = x.dim(-1);
  return layer_norm(Variable(x), Variable(Tensor::full({width}, 1)), Variable(Tensor::zeros({width}))).value();
}

// The value and the three gradients.
struct Results {
  Tensor z, dx, dgain, dbias;
};
template <class F>
Results run(const F& f, const Tensor& x, const Tensor& gain, const Tensor& bias, const Tensor& dz) {
  const Variable a = parameter(x), g = parameter(gain), b = parameter(bias);
  const Variable z = f(a, g, b);
  backward(z, dz);
  return {z.value(), a.gradient(), g.gradient(), b.gradient()};
}
const auto fused = [](const Variable& x, const Variable& gain, const Variable& bias) {
  return layer_norm(x, gain, bias);
};

}  // namespace

TEST_CASE("layer_norm agrees with its plain twin, value and gradients, for any rank, width and strides") {
  for (const Shape& shape : {Shape{5}, Shape{3, 1}, Shape{2, 3, 40}, Shape{2, 1, 3, 17}, Shape{1, 3000}}) {
    const Index width = shape[shape.rank() - 1];
    const Tensor gain = random_tensor({width}, -1, 1, 1), bias = random_tensor({width}, -1, 1, 2);
    Tensor x = random_tensor(shape, -3, 3), dz = random_tensor(shape, -1, 1, 3);
    if (shape.rank() > 2) x = x.transpose(0, 1), dz = dz.transpose(0, 1);
    const Results got = run(fused, x, gain, bias, dz), expected = run(layer_norm_plain, x, gain, bias, dz);
    check_close(got.z, expected.z);
    check_close(got.dx, expected.dx, sizeof(Real) == 8 ? 1e-11 : 1e-4);
    check_close(got.dgain, expected.dgain);
    check_close(got.dbias, expected.dbias);
  }
}

TEST_CASE("layer_norm and its plain twin have the gradients of central differences") {
  const std::vector<Shape> shapes = {{2, 3, 5}, {5}, {5}};
  check_gradients([](const std::vector<Variable>& v) { return layer_norm(v[0], v[1], v[2]); }, shapes);
  check_gradients([](const std::vector<Variable>& v) { return layer_norm_plain(v[0], v[1], v[2]); }, shapes);
}

TEST_CASE("layer_norm of [1, 2, 4, 8] has the known value and gradients") {
  const Real half = Real(0.5);
  const Results r = run(fused, Tensor({4}, {1, 2, 4, 8}), Tensor({4}, {1, 2, half, -1}), Tensor({4}, {0, 1, -1, half}),
                        Tensor({4}, {1, 0, -2, half}));
  const double tolerance = sizeof(Real) == 8 ? 1e-14 : 1e-6;
  check_close(r.z,
              Tensor({4}, {Real(-1.025754575496192995), Real(-0.305505823358791084), Real(-0.953374792022900318),
                           Real(-1.085257071221389173)}),
              tolerance);
  check_close(r.dx,
              Tensor({4}, {Real(0.236775223607738468), Real(-0.069734931777728561), Real(-0.309753578731865165),
                           Real(0.142713286901855257)}),
              tolerance);
  check_close(r.dgain,
              Tensor({4}, {Real(-1.025754575496192995), 0, Real(-0.186500831908398726), Real(0.792628535610694587)}),
              tolerance);
  CHECK(r.dbias.to_vector() == std::vector<Real>{1, 0, -2, half});
}

TEST_CASE("A normalised row has mean 0 and variance 1") {
  const Tensor y = normalized(random_tensor({6, 50}, -30, 30));
  const double tolerance = sizeof(Real) == 8 ? 1e-12 : 1e-5;
  check_close(sum(y, {1}), Tensor::zeros({6}), 50 * tolerance);
  check_close(sum(mul(y, y), {1}), Tensor::full({6}, 50), 1e-6 + tolerance);  // epsilon takes 1e-5 / variance away
}

TEST_CASE("Layer normalisation does not see a shift of a row, and hardly its scale") {
  const Tensor x = random_tensor({3, 20}, -500, 500);
  check_close(normalized(add(x, Tensor::scalar(1000))), normalized(x), sizeof(Real) == 8 ? 1e-12 : 1e-5);
  check_close(normalized(scale(x, 8)), normalized(x), sizeof(Real) == 8 ? 1e-9 : 1e-5);
  check_close(normalized(neg(x)), neg(normalized(x)));
}

TEST_CASE("The gradient of layer_norm moves a row neither along ones nor along itself") {
  const Tensor x = random_tensor({3, 4}, -50, 50);
  const Results r = run(fused, x, random_tensor({4}, -1, 1, 1), zeros, random_tensor({3, 4}, -1, 1, 2));
  const double tolerance = sizeof(Real) == 8 ? 1e-14 : 1e-6;
  check_close(sum(r.dx, {1}), Tensor::zeros({3}), tolerance);
  check_close(sum(mul(r.dx, normalized(x)), {1}), Tensor::zeros({3}), 1e-6);  // up to epsilon / variance
}

TEST_CASE("A constant row gives the bias and a finite gradient") {
  const Tensor bias({4}, {1, 2, 3, 4});
  using Norm = Variable (*)(const Variable&, const Variable&, const Variable&);
  for (const Norm f : {Norm(fused), Norm(layer_norm_plain)}) {
    for (const Real value : {Real(0), Real(1), Real(-7)}) {
      const Results r = run(f, Tensor::full({3, 4}, value), ones, bias, Tensor::full({3, 4}, 1));
      CHECK(same_bits(r.z, Tensor({3, 4}, {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4})));
      CHECK(all_finite(r.dx));
      check_close(r.dx, Tensor::zeros({3, 4}), 1e-4);
    }
  }
}

TEST_CASE("A row of one element, no rows and rows without elements are ordinary") {
  CHECK(same_bits(normalized(Tensor({2, 1}, {5, -3})), Tensor::zeros({2, 1})));
  for (const Shape& shape : {Shape{0, 4}, Shape{2, 0}, Shape{0}}) {
    const Index width = shape[shape.rank() - 1];
    const Results r =
        run(fused, Tensor::zeros(shape), Tensor::full({width}, 1), Tensor::zeros({width}), Tensor::zeros(shape));
    CHECK(r.z.shape() == shape);
    CHECK(r.dx.shape() == shape);
    CHECK(same_bits(r.dgain, Tensor::zeros({width})));
    CHECK(same_bits(r.dbias, Tensor::zeros({width})));
  }
}

TEST_CASE("A NaN spoils its own row only") {
  Tensor x = random_tensor({3, 4});
  x.set_in_place({1, 2}, std::numeric_limits<Real>::quiet_NaN());
  const Tensor y = normalized(x);
  for (const Index row : {0, 2}) CHECK(all_finite(y.narrow(0, row, 1)));
  for (Index i = 0; i < 4; ++i) CHECK(y.at({1, i}) != y.at({1, i}));
}

TEST_CASE("layer_norm has the same bits for any number of threads") {
  const int before = thread_count();
  const Tensor x = random_tensor({300, 64}), gain = random_tensor({64}, -1, 1, 1), dz = random_tensor({300, 64});
  set_thread_count(1);
  const Results one = run(fused, x, gain, Tensor::zeros({64}), dz);
  for (const int threads : {2, 5}) {
    const SharingThreads sharing(threads);
    const Results many = run(fused, x, gain, Tensor::zeros({64}), dz);
    CHECK(same_bits(many.z, one.z));
    CHECK(same_bits(many.dx, one.dx));
    CHECK(same_bits(many.dgain, one.dgain));
  }
  set_thread_count(before);
}

TEST_CASE("A new LayerNorm has gain 1 and bias 0, and is one op") {
  const LayerNorm norm(4);
  CHECK(same_bits(norm.gain.value(), ones));
  CHECK(same_bits(norm.bias.value(), zeros));
  const Tensor x = random_tensor({3, 4});
  const Variable z = norm(Variable(x));
  CHECK(same_bits(z.value(), normalized(x)));
  CHECK(std::string(z.node().op) == "layer_norm");
}

TEST_CASE("A gain or bias of another width, or an x of rank 0, is an error with all shapes at the caller's line") {
  const Variable x(Tensor::zeros({2, 4})), four(ones), three(Tensor::zeros({3})), row(Tensor::zeros({1, 4}));
  const auto line = Where::current().line() + 1;
  const std::string message = thrown_by<ShapeError>([&] { layer_norm(x, four, three); });
  CHECK(holds(message, "x [2, 4] with gain [4] and bias [3]"));
  CHECK(holds(message, "layer_norm_test.cpp:" + std::to_string(line)));
  CHECK_THROWS_AS(layer_norm(x, three, four), ShapeError);
  CHECK_THROWS_AS(layer_norm(x, row, row), ShapeError);
  CHECK_THROWS_AS(layer_norm(Variable(Tensor::scalar(1)), Variable(Tensor::zeros({1})), four), ShapeError);
  const Variable wide(Tensor::zeros({2, 3}));
  const auto next = Where::current().line() + 1;
  const std::string of_layer = thrown_by<ShapeError>([&] { LayerNorm(4)(wide); });
  CHECK(holds(of_layer, "layer_norm_test.cpp:" + std::to_string(next)));
}

}  // namespace segue::nn_layer_norm_test
