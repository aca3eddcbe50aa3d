// Sums and maxima over any axes against one loop over all elements.
#include "tensor/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/tools/functions.hpp"
#include "tensor/tools/shuffle.hpp"
#include "tests/support/tensors.hpp"

namespace segue::tensor_reduce_test {

namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();
constexpr Real not_a_number = std::numeric_limits<Real>::quiet_NaN();

// Every element is folded into the place that has 0 on the reduced axes.
template <class Fold>
Tensor plain_reduce(const Tensor& x, const Axes& axes, Real start, const Fold& fold) {
  Tensor z = Tensor::full(kept_shape(x.shape(), axes), start);
  for_each_position(x.shape(), [&](Position p) {
    const Real value = element(x, p);
    for (const int axis : axes) p[static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis)] = 0;
    Index offset = 0;
    for (int axis = 0; axis < z.rank(); ++axis) offset += p[static_cast<std::size_t>(axis)] * z.strides()[axis];
    Real& place = z.data_in_place()[offset];
    place = fold(place, value);
  });
  return z;
}

// Any axes in any order, counted from either end.
Axes random_axes(Random& random, int rank) {
  std::vector<Index> order;
  for (Index axis = 0; axis < rank; ++axis) order.push_back(axis);
  shuffle(order, random);
  Axes axes;
  for (Index i = random.below(rank + 1); i > 0; --i) {
    const auto axis = static_cast<int>(order[static_cast<std::size_t>(i - 1)]);
    axes.push_back(random.below(2) == 0 ? axis : axis - rank);
  }
  return axes;
}

Shape without(const Shape& shape, const Axes& axes) {
  Shape rest;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const bool named =
        std::count(axes.begin(), axes.end(), axis) + std::count(axes.begin(), axes.end(), axis - shape.rank()) > 0;
    if (!named) rest.push_back(shape[axis]);
  }
  return rest;
}

}  // namespace

TEST_CASE("sums over any axes of any view are those of one loop over all elements") {
  Random random(20);
  for (int round = 0; round < 300; ++round) {
    const Tensor x = random_view(random, random_shape(random, 4));
    const Axes axes = random_axes(random, x.rank());
    const Tensor expected = plain_reduce(x, axes, 0, [](Real a, Real b) { return a + b; });
    CAPTURE(to_string(x.shape()));
    const Tensor kept = sum(x, axes, true), dropped = sum(x, axes);
    REQUIRE(kept.shape() == expected.shape());
    CHECK(kept.to_vector() == expected.to_vector());
    REQUIRE(dropped.shape() == without(x.shape(), axes));
    CHECK(dropped.to_vector() == expected.to_vector());
  }
}

TEST_CASE("maxima over any axes of any view are those of one loop over all elements") {
  Random random(21);
  for (int round = 0; round < 300; ++round) {
    const Tensor x = random_view(random, random_shape(random, 4));
    const Axes axes = random_axes(random, x.rank());
    if (x.size() == 0 && kept_shape(x.shape(), axes).size() > 0) {
      CHECK_THROWS_AS(max(x, axes), ShapeError);
      continue;
    }
    const Tensor expected = plain_reduce(x, axes, -infinity, [](Real a, Real b) { return std::max(a, b); });
    const Tensor kept = max(x, axes, true), dropped = max(x, axes);
    REQUIRE(kept.shape() == expected.shape());
    CHECK(kept.to_vector() == expected.to_vector());
    REQUIRE(dropped.shape() == without(x.shape(), axes));
    CHECK(dropped.to_vector() == expected.to_vector());
  }
}

TEST_CASE("sums of rows of every length around the lanes and the halving are exact for whole numbers") {
  for (const Index n : {0, 1, 2, 15, 16, 17, 31, 33, 1023, 1024, 1025, 1040, 2047, 2048, 2049, 4100}) {
    const Tensor x = Tensor::arange(n);
    const auto expected = static_cast<Real>(n * (n - 1) / 2);
    CHECK(sum(x, {0}).item() == expected);
    CHECK(sum(x.reshape({n, 1}).broadcast_to({n, 3}), {0}).to_vector() ==
          std::vector<Real>{expected, expected, expected});
    if (n > 0) CHECK(max(x, {0}).item() == static_cast<Real>(n - 1));
  }
}

TEST_CASE("the sum of everything has rank 0") {
  CHECK(sum(Tensor::full({2, 3}, 2)).shape() == Shape{});
  CHECK(sum(Tensor::full({2, 3}, 2)).item() == 12);
  CHECK(sum(Tensor::scalar(5)).item() == 5);
  CHECK(sum(Tensor::zeros({3, 0})).item() == 0);
}

TEST_CASE("an empty sum is 0, an empty maximum a shape error that names the shape") {
  const Tensor x = Tensor::zeros({2, 0});
  CHECK(sum(x, {1}).to_vector() == std::vector<Real>{0, 0});
  CHECK(sum(x, {0}).shape() == Shape{0});
  CHECK(sum(x, {0}, true).shape() == Shape{1, 0});
  CHECK(sum(x, {0, 1}, true).shape() == Shape{1, 1});
  CHECK(max(x, {0}).shape() == Shape{0});
  CHECK(max(Tensor::zeros({0, 0}), {0}).shape() == Shape{0});
  CHECK(holds(message_of<ShapeError>([&] { max(x, {1}); }), "[2, 0]"));
}

TEST_CASE("a tensor of rank 0 is reduced over its axes 0 and -1, others are range errors") {
  const Tensor x = Tensor::scalar(4);
  for (const Axes& axes : {Axes{}, Axes{0}, Axes{-1}}) {
    CHECK(sum(x, axes).item() == 4);
    CHECK(max(x, axes).item() == 4);
    CHECK(sum(x, axes, true).shape() == Shape{});
  }
  CHECK_THROWS_AS(sum(x, {1}), RangeError);
  CHECK_THROWS_AS(max(x, {-2}), RangeError);
}

TEST_CASE("axes outside the rank, or named twice, are range errors at the caller's line") {
  const Tensor x = Tensor::zeros({2, 3});
  message_of<RangeError>([&] { sum(x, {2}); });
  message_of<RangeError>([&] { sum(x, {1, -1}); });
  message_of<RangeError>([&] { max(x, {-3}); });
  message_of<RangeError>([&] { kept_shape(x.shape(), {5}); });
}

TEST_CASE("NaN and infinity come through reductions") {
  for (const Index place : {0, 1, 15, 16, 17, 1999}) {
    Tensor x = Tensor::zeros({2000});
    x.set_in_place({place}, not_a_number);
    for (const Tensor& view : {x.reshape({1, 2000}), x.reshape({2000, 1}).transpose(0, 1)}) {
      CHECK(std::isnan(sum(view, {1}).item()));
      CHECK(std::isnan(max(view, {1}).item()));
    }
    CHECK(std::isnan(max(x.reshape({2000, 1}).broadcast_to({2000, 2}), {0}).at({1})));
    x.set_in_place({place}, infinity);
    CHECK(sum(x, {0}).item() == infinity);
    CHECK(max(x, {0}).item() == infinity);
  }
  CHECK(max(Tensor::full({5}, -infinity), {0}).item() == -infinity);
}

TEST_CASE("a long sum of equal numbers keeps its digits") {
  const auto tolerance = 32 * static_cast<double>(std::numeric_limits<Real>::epsilon());
  const Index n = 1 << 20;
  const double expected = static_cast<double>(Real(0.1)) * static_cast<double>(n);
  const double got = static_cast<double>(sum(Tensor::full({n}, Real(0.1))).item());
  CHECK(std::abs(got / expected - 1) < tolerance);
}

TEST_CASE("the order in which axes are named does not change a bit") {
  Random random(22);
  const Tensor x = random.normal({5, 6, 7}, 0, 1);
  CHECK(same_bits(sum(x, {0, 2}), sum(x, {2, 0})));
  CHECK(same_bits(sum(x, {-1, 0, 1}), sum(x)));
}

TEST_CASE("sum_to undoes broadcasting: it is the adjoint of broadcast_to") {
  Random random(23);
  for (int round = 0; round < 200; ++round) {
    const Shape large = random_shape(random, 4);
    Shape small;
    const auto dropped = static_cast<int>(random.below(large.rank() + 1));
    for (int axis = dropped; axis < large.rank(); ++axis) small.push_back(random.below(2) == 0 ? 1 : large[axis]);
    const Tensor x = random_view(random, large), y = random_view(random, small);
    const Tensor z = sum_to(x, small);
    REQUIRE(z.shape() == small);
    // <x, broadcast(y)> = <sum_to(x), y>
    Real left = 0, right = 0;
    for_each_position(large, [&](const Position& p) { left += element(x, p) * broadcast_element(y, p); });
    for_each_position(small, [&](const Position& p) { right += element(z, p) * element(y, p); });
    CHECK(left == right);
  }
  CHECK(sum_to(Tensor::full({3, 0}, 1), {3, 1}).to_vector() == std::vector<Real>{0, 0, 0});
}

TEST_CASE("sum_to refuses a shape that does not broadcast to that of x, and names both") {
  const Tensor x = Tensor::zeros({2, 3});
  for (const Shape& shape : {Shape{2}, Shape{1, 2, 3}, Shape{4, 3}, Shape{2, 0}}) {
    CAPTURE(to_string(shape));
    const std::string message = message_of<ShapeError>([&] { sum_to(x, shape); });
    CHECK(holds(message, "[2, 3]"));
    CHECK(holds(message, to_string(shape)));
  }
  CHECK_THROWS_AS(sum_to(Tensor::zeros({2, 1}), {2, 3}), ShapeError);
}

TEST_CASE("kept_shape and all_axes describe a reduction") {
  CHECK(kept_shape({2, 3, 4}, {0, -1}) == Shape{1, 3, 1});
  CHECK(all_axes(3) == Axes{0, 1, 2});
  CHECK(all_axes(0).size() == 0);
}

}  // namespace segue::tensor_reduce_test
