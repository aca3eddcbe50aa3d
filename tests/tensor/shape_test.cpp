// Shapes, strides, axes and the rule of broadcasting.
#include "tensor/shape.hpp"

#include <limits>

#include "tests/support/tensors.hpp"

namespace segue::tensor_shape_test {

TEST_CASE("a shape knows its lengths, its rank and how many elements it counts") {
  const Shape shape{2, 3, 4};
  CHECK(shape.rank() == 3);
  CHECK(shape[1] == 3);
  CHECK(shape.size() == 24);
  CHECK(Shape{}.rank() == 0);
  CHECK(Shape{}.size() == 1);
  CHECK(Shape{5, 0, 7}.size() == 0);
  CHECK(Shape::filled(3, 2) == Shape{2, 2, 2});
  CHECK(Shape(std::vector<Index>{4, 5}) == Shape{4, 5});
}

TEST_CASE("shapes are equal only when rank and every length are") {
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK_FALSE(Shape{2, 3} == Shape{3, 2});
  CHECK_FALSE(Shape{} == Shape{1});
  CHECK_FALSE(Shape{1} == Shape{1, 1});
}

TEST_CASE("a shape prints as a list") {
  CHECK(to_string(Shape{}) == "[]");
  CHECK(to_string(Shape{7}) == "[7]");
  CHECK(to_string(Shape{2, 0, 3}) == "[2, 0, 3]");
}

TEST_CASE("a ninth axis is refused") {
  Shape shape = Shape::filled(Shape::max_rank, 1);
  CHECK(shape.rank() == 8);
  CHECK(holds(message_of<ShapeError>([&] { shape.push_back(1); }), "at most 8 axes"));
  CHECK(shape.rank() == 8);
  message_of<ShapeError>([] { Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}; });
}

TEST_CASE("contiguous strides count the elements behind each axis") {
  CHECK(contiguous_strides({2, 3, 4}) == Strides{12, 4, 1});
  CHECK(contiguous_strides({5}) == Strides{1});
  CHECK(contiguous_strides({}) == Strides{});
  CHECK(contiguous_strides({2, 0, 3}) == Strides{0, 3, 1});
}

TEST_CASE("negative axes count from the end") {
  CHECK(normalize_axis(0, 3) == 0);
  CHECK(normalize_axis(2, 3) == 2);
  CHECK(normalize_axis(-1, 3) == 2);
  CHECK(normalize_axis(-3, 3) == 0);
  CHECK(normalize_axes({-1, 0}, 3) == Axes{2, 0});
}

TEST_CASE("a tensor of rank 0 accepts the axes 0 and -1 and no others") {
  CHECK(normalize_axis(0, 0) == 0);
  CHECK(normalize_axis(-1, 0) == 0);
  CHECK_THROWS_AS(normalize_axis(1, 0), RangeError);
  CHECK_THROWS_AS(normalize_axis(-2, 0), RangeError);
}

TEST_CASE("an axis outside the rank is a range error that names both") {
  const std::string message = message_of<RangeError>([] { normalize_axis(3, 3); });
  CHECK(holds(message, "axis 3"));
  CHECK(holds(message, "rank 3"));
  CHECK_THROWS_AS(normalize_axis(-4, 3), RangeError);
  CHECK_THROWS_AS(normalize_axis(std::numeric_limits<int>::min(), 3), RangeError);
}

TEST_CASE("an axis named twice is a range error, also under two names") {
  message_of<RangeError>([] { normalize_axes({1, 1}, 3); });
  message_of<RangeError>([] { normalize_axes({0, -3}, 3); });
  CHECK_THROWS_AS(normalize_axes({0, -1}, 0), RangeError);
}

TEST_CASE("shapes broadcast by the rule of NumPy") {
  CHECK(broadcast_shapes("f", {2, 3}, {3}) == Shape{2, 3});
  CHECK(broadcast_shapes("f", {8, 1, 6, 1}, {7, 1, 5}) == Shape{8, 7, 6, 5});
  CHECK(broadcast_shapes("f", {}, {4}) == Shape{4});
  CHECK(broadcast_shapes("f", {}, {}) == Shape{});
  CHECK(broadcast_shapes("f", {1}, {0}) == Shape{0});
  CHECK(broadcast_shapes("f", {3, 0}, {1, 1}) == Shape{3, 0});
}

TEST_CASE("shapes that do not broadcast are an error with the operation and both shapes") {
  const std::string message = message_of<ShapeError>([] { broadcast_shapes("blend", {2, 3}, {2, 4}); });
  CHECK(holds(message, "blend"));
  CHECK(holds(message, "[2, 3]"));
  CHECK(holds(message, "[2, 4]"));
  CHECK_THROWS_AS(broadcast_shapes("f", {0}, {3}), ShapeError);
  CHECK_THROWS_AS(broadcast_shapes("f", {2, 3}, {2}), ShapeError);
}

TEST_CASE("lengths below zero and counts beyond any number are shape errors") {
  constexpr Index huge = Index{1} << 40;
  CHECK(holds(message_of<ShapeError>([] { check_shape({2, -1}, Where::current()); }), "[2, -1]"));
  CHECK_THROWS_AS(check_shape({huge, huge}, Where::current()), ShapeError);
  CHECK_THROWS_AS(check_shape({huge, 0, huge}, Where::current()), ShapeError);
  CHECK_THROWS_AS(check_shape({0, -1}, Where::current()), ShapeError);
  CHECK_NOTHROW(check_shape({std::numeric_limits<Index>::max()}, Where::current()));
  CHECK_NOTHROW(check_shape({0, huge}, Where::current()));
}

TEST_CASE("a location shows the file with its folder only, and the line") {
  const Where where = Where::current();
  CHECK(short_location(where) == "tensor/shape_test.cpp:" + std::to_string(where.line()));
  CHECK(located("no", where) == "no (at " + short_location(where) + ")");
}

TEST_CASE("An axis that a shape has not is an error") {
  Shape shape{2, 3};
  CHECK_THROWS_AS(shape[2], RangeError);
  CHECK_THROWS_AS(shape[-1], RangeError);
  CHECK_THROWS_AS(shape[7] = 1, RangeError);
  CHECK_THROWS_AS(Shape{}[0], RangeError);
}

TEST_CASE("Axes are made of a list or of a vector, up to eight") {
  const std::vector<int> numbers = {2, -1};
  CHECK(Axes(numbers) == Axes{2, -1});
  CHECK(Axes(numbers).contains(-1));
  CHECK_FALSE(Axes(numbers).contains(1));
  CHECK(Axes{}.size() == 0);
  CHECK_THROWS_AS(Axes(std::vector<int>(9, 0)), RangeError);
}

}  // namespace segue::tensor_shape_test
