// Token ids, looking elements up by them, adding back to them, and joining tensors.
#include "tensor/indexing.hpp"

#include "tests/support/tensors.hpp"

namespace segue::tensor_indexing_test {

namespace {

Tokens random_tokens(Random& random, const Shape& shape, Index limit) {
  Tokens tokens(shape);
  for (Index& id : tokens.ids) id = random.below(limit);
  return tokens;
}

// A shape whose axis `axis` has at least one element, so that there is something to look up.
std::pair<Shape, int> random_shape_and_axis(Random& random) {
  Shape shape = random_shape(random, 1);
  shape.push_back(1 + random.below(5));
  if (random.below(2) == 0) shape.push_back(random.below(4));
  return {shape, static_cast<int>(shape.rank() > 1 && random.below(2) == 0 && shape[0] > 0 ? 0 : shape.rank() - 1)};
}

}  // namespace

TEST_CASE("tokens are ids with a shape") {
  const Tokens tokens({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(tokens.size() == 6);
  CHECK(tokens[4] == 5);
  CHECK(Tokens(Shape{2, 2}).ids == std::vector<Index>{0, 0, 0, 0});
  CHECK(Tokens().size() == 0);
  CHECK(Tokens(Shape{}).size() == 1);
  CHECK(tokens == Tokens({2, 3}, {1, 2, 3, 4, 5, 6}));
  CHECK_FALSE(tokens == Tokens({3, 2}, {1, 2, 3, 4, 5, 6}));
}

TEST_CASE("ids that do not fill their shape are a shape error") {
  const std::string message = message_of<ShapeError>([] { Tokens({2, 3}, {1, 2}); });
  CHECK(holds(message, "2 token ids"));
  CHECK(holds(message, "[2, 3]"));
  CHECK_THROWS_AS(Tokens(Shape{-1}), ShapeError);
}

TEST_CASE("gather picks slices along any axis by indices of any rank") {
  Random random(40);
  for (int round = 0; round < 200; ++round) {
    const auto [shape, axis] = random_shape_and_axis(random);
    if (shape[axis] == 0) continue;
    const Tensor x = random_view(random, shape);
    const Tokens indices = random_tokens(random, random_shape(random, 2), shape[axis]);
    const int index_rank = indices.shape.rank();
    const Tensor z = gather(x, indices, random.below(2) == 0 ? axis : axis - shape.rank());
    REQUIRE(z.rank() == shape.rank() - 1 + index_rank);
    for_each_position(z.shape(), [&, a = axis](const Position& p) {
      Index place = 0;
      for (int k = 0; k < index_rank; ++k) place = place * indices.shape[k] + p[static_cast<std::size_t>(a + k)];
      Position from(p.begin(), p.begin() + a);
      from.push_back(indices[place]);
      from.insert(from.end(), p.begin() + a + index_rank, p.end());
      REQUIRE(element(z, p) == element(x, from));
    });
  }
}

TEST_CASE("an embedding lookup turns [B, T] ids and a [V, D] table into [B, T, D]") {
  const Tensor table({3, 2}, {0, 1, 10, 11, 20, 21});
  const Tensor z = gather(table, Tokens({2, 2}, {2, 0, 1, 1}));
  CHECK(z.shape() == Shape{2, 2, 2});
  CHECK(z.to_vector() == std::vector<Real>{20, 21, 0, 1, 10, 11, 10, 11});
  CHECK(gather(table, Tokens(Shape{}, {1})).to_vector() == std::vector<Real>{10, 11});  // a single index drops the axis
  CHECK(gather(table, Tokens(Shape{0})).shape() == Shape{0, 2});
}

TEST_CASE("scatter_add adds every one of repeated contributions") {
  const Tensor dz({2}, {Real(0.25), Real(0.5)});
  CHECK(scatter_add(dz, {1}, Tokens({2}, {0, 0})).to_vector() == std::vector<Real>{Real(0.75)});
  CHECK(scatter_add(dz, {3}, Tokens({2}, {2, 0})).to_vector() == std::vector<Real>{Real(0.5), 0, Real(0.25)});
}

TEST_CASE("scatter_add is the adjoint of gather") {
  Random random(41);
  for (int round = 0; round < 200; ++round) {
    const auto [shape, axis] = random_shape_and_axis(random);
    if (shape[axis] == 0) continue;
    const Tensor x = random_view(random, shape);
    const Tokens indices = random_tokens(random, random_shape(random, 2), shape[axis]);
    const Tensor z = gather(x, indices, axis), dz = random_view(random, z.shape());
    const Tensor dx = scatter_add(dz, shape, indices, axis);
    REQUIRE(dx.shape() == shape);
    // <gather(x), dz> = <x, scatter_add(dz)>
    Real left = 0, right = 0;
    for_each_position(z.shape(), [&](const Position& p) { left += element(z, p) * element(dz, p); });
    for_each_position(shape, [&](const Position& p) { right += element(x, p) * element(dx, p); });
    CHECK(left == right);
  }
}

TEST_CASE("indices of any rank give the same sums as flattened ones") {
  Random random(42);
  const Tokens flat = random_tokens(random, {6}, 4), square({2, 3}, flat.ids);
  const Tensor dz = random_tensor(random, {6, 5});
  CHECK(same_bits(scatter_add(dz, {4, 5}, flat), scatter_add(dz.reshape({2, 3, 5}), {4, 5}, square)));
}

TEST_CASE("an index outside its axis is a range error that names it and its place") {
  const Tensor x = Tensor::zeros({3, 2});
  const std::string message = message_of<RangeError>([&] { gather(x, Tokens({2}, {0, 3})); });
  CHECK(holds(message, "index 3"));
  CHECK(holds(message, "position 1"));
  CHECK(holds(message_of<RangeError>([&] { gather(x, Tokens({2}, {-1, 0})); }), "index -1"));
  message_of<RangeError>([] { scatter_add(Tensor::zeros({1}), {3}, Tokens({1}, {3})); });
  CHECK_THROWS_AS(gather(Tensor::zeros({0, 2}), Tokens({1}, {0})), RangeError);
  CHECK_THROWS_AS(gather(x, Tokens({1}, {0}), 2), RangeError);
  CHECK_THROWS_AS(gather(Tensor::scalar(1), Tokens({1}, {0})), ShapeError);
}

TEST_CASE("a gradient that does not have the shape of the gathered slices is an error with both") {
  const std::string message = message_of<ShapeError>([] { scatter_add(Tensor::zeros({3}), {5}, Tokens({2}, {0, 1})); });
  CHECK(holds(message, "[3]"));
  CHECK(holds(message, "[2]"));
  constexpr Index huge = Index{1} << 40;
  CHECK_THROWS_AS(scatter_add(Tensor::zeros({0}), {huge, huge}, Tokens()), ShapeError);
  CHECK_THROWS_AS(scatter_add(Tensor::zeros({0}), {-1}, Tokens()), ShapeError);
}

TEST_CASE("ids changed so that they no longer fill their shape are refused") {
  Tokens tokens({2}, {0, 1});
  tokens.ids.push_back(0);
  message_of<ShapeError>([&] { gather(Tensor::zeros({3}), tokens); });
}

TEST_CASE("a result of more axes than a shape can have is a shape error") {
  CHECK_THROWS_AS(gather(Tensor::zeros(Shape::filled(8, 1)), Tokens(Shape{1, 1})), ShapeError);
}

TEST_CASE("narrowing what concat joined gives the parts back") {
  Random random(43);
  for (int round = 0; round < 100; ++round) {
    Shape shape = random_shape(random, 2);
    shape.push_back(1 + random.below(3));
    const int axis = static_cast<int>(random.below(shape.rank()));
    std::vector<Tensor> parts;
    for (Index count = 1 + random.below(4); count > 0; --count) {
      shape[axis] = random.below(4);
      parts.push_back(random_view(random, shape));
    }
    const Tensor z = concat(parts, random.below(2) == 0 ? axis : axis - shape.rank());
    Index start = 0;
    for (const Tensor& part : parts) {
      CHECK(same_bits(z.narrow(axis, start, part.dim(axis)), part));
      start += part.dim(axis);
    }
    CHECK(z.dim(axis) == start);
    for (const Tensor& part : parts) CHECK(z.storage() != part.storage());
  }
}

TEST_CASE("an empty memory joins with a segment like any other") {
  const Tensor memory = Tensor::zeros({2, 0, 3}), segment = Tensor::full({2, 4, 3}, 1);
  CHECK(same_bits(concat({memory, segment}, 1), segment));
  CHECK(concat({memory, memory}, 1).shape() == Shape{2, 0, 3});
}

TEST_CASE("parts that do not fit together are a shape error with both shapes") {
  const Tensor x = Tensor::zeros({2, 3}), y = Tensor::zeros({3, 4});
  const std::string message = message_of<ShapeError>([&] { concat({x, y}, 0); });
  CHECK(holds(message, "[2, 3]"));
  CHECK(holds(message, "[3, 4]"));
  CHECK_THROWS_AS(concat({x, Tensor::zeros({2})}, 0), ShapeError);
  CHECK_THROWS_AS(concat({x, x}, 2), RangeError);
  CHECK_THROWS_AS(concat(std::vector<Tensor>(), 0), ShapeError);
  CHECK_THROWS_AS(concat({Tensor::scalar(1)}, 0), ShapeError);
}

TEST_CASE("Views whose lengths add up to more than can be counted are a shape error of concat") {
  const Index half = Index{1} << 62;
  const Tensor view = Tensor::zeros({1}).broadcast_to({half});
  for (const std::size_t parts : {2U, 4U, 5U}) {
    CHECK_THROWS_AS(concat(std::vector<Tensor>(parts, view), 0), ShapeError);
  }
}

}  // namespace segue::tensor_indexing_test
