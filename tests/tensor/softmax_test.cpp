// Softmax and its logarithm: their definition, what they leave unchanged, extreme numbers, and recorded values.
#include "tensor/softmax.hpp"

#include <cmath>
#include <limits>

#include "tensor/elementwise.hpp"
#include "tensor/reduce.hpp"
#include "tensor/tools/functions.hpp"
#include "tests/support/tensors.hpp"

namespace segue::tensor_softmax_test {

namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();
constexpr double tolerance = 16 * static_cast<double>(std::numeric_limits<Real>::epsilon());

bool close(Real got, double expected) {
  return std::abs(static_cast<double>(got) - expected) <= tolerance * (1 + std::abs(expected));
}

// log sum_j exp(x_j) over the row through p along `axis`, in double and without any care for overflow.
double plain_log_sum(const Tensor& x, Position p, int axis) {
  double total = 0;
  for (Index j = 0; j < x.dim(axis); ++j) {
    p[static_cast<std::size_t>(axis)] = j;
    total += std::exp(static_cast<double>(element(x, p)));
  }
  return std::log(total);
}

// Shapes with at least one axis, and one of those axes.
std::pair<Shape, int> random_shape_and_axis(Random& random) {
  Shape shape = random_shape(random, 3);
  shape.push_back(1 + random.below(40));
  const int axis = static_cast<int>(random.below(shape.rank()));
  return {shape, axis};
}

}  // namespace

TEST_CASE("softmax and log_softmax follow their definition along any axis of any view") {
  Random random(30);
  for (int round = 0; round < 100; ++round) {
    const auto [shape, axis] = random_shape_and_axis(random);
    const Tensor x = random_view(random, shape);
    const Tensor p = softmax(x, axis), logs = log_softmax(x, axis - x.rank());
    REQUIRE(p.shape() == shape);
    REQUIRE(logs.shape() == shape);
    for_each_position(shape, [&, a = axis](const Position& at) {
      const double expected = static_cast<double>(element(x, at)) - plain_log_sum(x, at, a);
      REQUIRE(close(element(p, at), std::exp(expected)));
      REQUIRE(close(element(logs, at), expected));
    });
  }
}

TEST_CASE("softmax sums to 1 and adding a constant does not change it") {
  Random random(31);
  const Tensor x = random_tensor(random, {4, 50}), p = softmax(x);
  for (const Real total : sum(p, {1}).to_vector()) CHECK(close(total, 1));
  const Tensor moved = add(x, Tensor::scalar(1024));  // exact: the numbers are multiples of 1/64
  CHECK(same_bits(softmax(moved), p));
  CHECK(same_bits(log_softmax(moved), log_softmax(x)));
}

TEST_CASE("log_softmax keeps its digits far from 0") {
  const Tensor x({2}, {1000000, 1000000});
  for (const Real z : log_softmax(x).to_vector()) CHECK(close(z, -0.693147180559945309));
}

TEST_CASE("the largest numbers do not overflow and the smallest vanish") {
  const Real largest = std::numeric_limits<Real>::max();
  CHECK(softmax(Tensor({3}, {largest, largest, -largest})).to_vector() == std::vector<Real>{Real(0.5), Real(0.5), 0});
  const std::vector<Real> z = log_softmax(Tensor({3}, {-431, 279, 427})).to_vector();
  CHECK(z == std::vector<Real>{-858, -148, 0});
}

TEST_CASE("an element at minus infinity gets exactly 0 and does not touch the others") {
  const Tensor x({4}, {1, -infinity, 2, 3}), without({3}, {1, 2, 3});
  const std::vector<Real> p = softmax(x).to_vector(), q = softmax(without).to_vector();
  CHECK(p[1] == 0);
  CHECK(close(p[0], static_cast<double>(q[0])));
  CHECK(close(p[3], static_cast<double>(q[2])));
  CHECK(log_softmax(x).at({1}) == -infinity);
}

TEST_CASE("a row with nothing visible, an infinite or a NaN element is NaN and leaves other rows alone") {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  for (const Real bad : {nan, infinity, -infinity}) {
    Tensor x = Tensor::zeros({3, 2});
    x.narrow(0, 1, 1).fill_in_place(bad);
    for (const Tensor& z : {softmax(x), log_softmax(x)}) {
      CHECK(std::isnan(z.at({1, 0})));
      CHECK(all_finite(z.narrow(0, 0, 1)));
      CHECK(all_finite(z.narrow(0, 2, 1)));
    }
  }
}

TEST_CASE("softmax of a tensor of rank 0 is 1, along the axes 0 and -1 only") {
  const Tensor x = Tensor::scalar(5);
  for (const int axis : {0, -1}) {
    CHECK(softmax(x, axis).shape() == Shape{});
    CHECK(softmax(x, axis).item() == 1);
    CHECK(log_softmax(x, axis).item() == 0);
    CHECK(softmax_backward(softmax(x), x, axis).item() == 0);
  }
  CHECK_THROWS_AS(softmax(x, 1), RangeError);
  CHECK_THROWS_AS(log_softmax(x, -2), RangeError);
}

TEST_CASE("an axis without elements gives a result without elements") {
  for (const Shape& shape : {Shape{10, 0}, Shape{0, 10}, Shape{0}}) {
    for (const int axis : {0, -1}) {
      const Tensor x = Tensor::zeros(shape);
      CHECK(softmax(x, axis).shape() == shape);
      CHECK(log_softmax(x, axis).shape() == shape);
      CHECK(softmax_backward(x, x, axis).shape() == shape);
      CHECK(log_softmax_backward(x, x, axis).shape() == shape);
    }
  }
}

TEST_CASE("the gradients follow their formulas along any axis of any view") {
  Random random(32);
  for (int round = 0; round < 100; ++round) {
    const auto [shape, axis] = random_shape_and_axis(random);
    const Tensor x = random_view(random, shape), dz = random_view(random, shape);
    const Tensor p = softmax(x, axis);
    const Tensor expected = mul(p, sub(dz, sum(mul(p, dz), {axis}, true)));
    const Tensor expected_log = sub(dz, mul(p, sum(dz, {axis}, true)));
    const Tensor dx = softmax_backward(p, dz, axis), dx_log = log_softmax_backward(log_softmax(x, axis), dz, axis);
    REQUIRE(dx.shape() == shape);
    for_each_position(shape, [&](const Position& at) {
      REQUIRE(close(element(dx, at), static_cast<double>(element(expected, at))));
      const double size = static_cast<double>(shape[axis]);  // the sum over dz grows with the row
      REQUIRE(std::abs(element(dx_log, at) - element(expected_log, at)) <= Real(tolerance * size));
    });
  }
}

TEST_CASE("the gradient of log_softmax at [0.1, 0.9] is the known one") {
  const Tensor z = log_softmax(Tensor({2}, {Real(0.1), Real(0.9)})), ones = Tensor::full({2}, 1);
  const std::vector<Real> dx = log_softmax_backward(z, ones, 0).to_vector();
  CHECK(std::abs(dx[0] - Real(0.379949)) < Real(1e-6));
  CHECK(std::abs(dx[1] + Real(0.379949)) < Real(1e-6));
}

TEST_CASE("the gradient of log_softmax stays finite where probabilities underflow") {
  const Tensor z = log_softmax(Tensor({3}, {-431, 279, 427}));
  const std::vector<Real> dx = log_softmax_backward(z, Tensor({3}, {-1, 0, 0}), 0).to_vector();
  CHECK(dx[0] == -1);
  CHECK(std::abs(dx[1]) < Real(1e-37));
  CHECK(dx[2] == 1);
}

TEST_CASE("wrong axes and a gradient of another shape are errors at the caller's line") {
  const Tensor x = Tensor::zeros({2, 3}), dz = Tensor::zeros({2, 2});
  message_of<RangeError>([&] { softmax(x, 2); });
  message_of<RangeError>([&] { log_softmax(x, -3); });
  const std::string message = message_of<ShapeError>([&] { softmax_backward(x, dz, -1); });
  CHECK(holds(message, "[2, 3]"));
  CHECK(holds(message, "[2, 2]"));
  message_of<ShapeError>([&] { log_softmax_backward(x, dz, 0); });
}

}  // namespace segue::tensor_softmax_test
