// Making tensors, looking at them through views, and writing into them.
#include "tensor/tensor.hpp"

#include "tensor/elementwise.hpp"
#include "tests/support/tensors.hpp"

namespace segue::tensor_tensor_test {

TEST_CASE("a new tensor holds what it was made from") {
  CHECK(Tensor({2, 2}, {1, 2, 3, 4}).at({1, 0}) == 3);
  CHECK(Tensor::zeros({3}).to_vector() == std::vector<Real>{0, 0, 0});
  CHECK(Tensor::full({1, 2}, 7).to_vector() == std::vector<Real>{7, 7});
  CHECK(Tensor::arange(4).to_vector() == std::vector<Real>{0, 1, 2, 3});
  CHECK(Tensor::scalar(5).rank() == 0);
  CHECK(Tensor::scalar(5).item() == 5);
  CHECK(Tensor().shape() == Shape{0});
}

TEST_CASE("values that do not fill the shape are a shape error with both counts") {
  const std::string message = message_of<ShapeError>([] { Tensor({2, 3}, {1, 2, 3, 4}); });
  CHECK(holds(message, "4 values"));
  CHECK(holds(message, "[2, 3]"));
  CHECK_THROWS_AS(Tensor({2, -3}, {}), ShapeError);
  CHECK_THROWS_AS(Tensor::arange(-1), ShapeError);
}

TEST_CASE("tensors without elements are ordinary") {
  const Tensor x = Tensor::zeros({2, 0, 3});
  CHECK(x.size() == 0);
  CHECK(x.is_contiguous());
  CHECK(x.to_vector().empty());
  CHECK(x.transpose(0, 2).shape() == Shape{3, 0, 2});
  CHECK(x.reshape({0, 5}).shape() == Shape{0, 5});
  CHECK(x.reshape({-1, 3}).shape() == Shape{0, 3});
  CHECK(x.narrow(0, 2, 0).narrow(2, 3, 0).shape() == Shape{0, 0, 0});
  CHECK(x.broadcast_to({4, 2, 0, 3}).clone().shape() == Shape{4, 2, 0, 3});
  CHECK(Tensor::zeros({2, 1}).broadcast_to({2, 0}).size() == 0);
  Tensor y = x.clone();
  y.fill_in_place(1);
  y.copy_in_place(x);
}

TEST_CASE("a tensor of rank 0 is an ordinary tensor with one element") {
  Tensor x = Tensor::scalar(3);
  CHECK(x.at({}) == 3);
  CHECK(x.is_contiguous());
  CHECK(x.reshape({1, 1}).shape() == Shape{1, 1});
  CHECK(x.permute({}).item() == 3);
  CHECK(x.transpose(0, -1).item() == 3);
  CHECK(x.broadcast_to({2, 2}).to_vector() == std::vector<Real>{3, 3, 3, 3});
  x.set_in_place({}, 4);
  CHECK(x.clone().item() == 4);
  CHECK_THROWS_AS(x.dim(0), RangeError);
  CHECK_THROWS_AS(x.narrow(0, 0, 1), RangeError);
  CHECK_THROWS_AS(x.transpose(0, 1), RangeError);
}

TEST_CASE("dim counts negative axes from the end") {
  const Tensor x = Tensor::zeros({2, 3, 4});
  CHECK(x.dim(0) == 2);
  CHECK(x.dim(-1) == 4);
  message_of<RangeError>([&] { x.dim(3); });
}

TEST_CASE("an index outside its axis, or too many or too few, is a range error that names the shape") {
  Tensor x = Tensor::zeros({2, 3});
  const std::string message = message_of<RangeError>([&] { x.at({1, 3}); });
  CHECK(holds(message, "index 3"));
  CHECK(holds(message, "axis 1"));
  CHECK(holds(message, "[2, 3]"));
  CHECK_THROWS_AS(x.at({-1, 0}), RangeError);
  CHECK(holds(message_of<RangeError>([&] { x.at({1}); }), "[2, 3]"));
  message_of<RangeError>([&] { x.set_in_place({2, 0}, 1); });
  CHECK_THROWS_AS(Tensor::zeros({0}).at({0}), RangeError);
}

TEST_CASE("item needs exactly one element, of any rank") {
  CHECK(Tensor({1, 1, 1}, {9}).item() == 9);
  CHECK(holds(message_of<ShapeError>([] { Tensor::zeros({2}).item(); }), "[2]"));
  CHECK_THROWS_AS(Tensor::zeros({0}).item(), ShapeError);
}

TEST_CASE("copies and views share their numbers, clones do not") {
  Tensor x = Tensor::arange(6).reshape({2, 3});
  const Tensor copy = x, view = x.transpose(0, 1), clone = x.clone();
  x.set_in_place({0, 1}, 50);
  CHECK(copy.at({0, 1}) == 50);
  CHECK(view.at({1, 0}) == 50);
  CHECK(clone.at({0, 1}) == 1);
  CHECK(clone.owns_storage_alone());
  CHECK_FALSE(x.owns_storage_alone());
}

TEST_CASE("writing into a slice changes the tensor it is a slice of, and no result computed earlier") {
  Tensor a = Tensor::zeros({3});
  const Tensor s = add(a, Tensor::scalar(1));
  Tensor slice = a.narrow(0, 0, 1);
  slice.fill_in_place(9);
  CHECK(a.to_vector() == std::vector<Real>{9, 0, 0});
  CHECK(s.to_vector() == std::vector<Real>{1, 1, 1});
}

TEST_CASE("permute puts axis axes[k] of the source at place k") {
  Random random(1);
  const Tensor x = random_tensor(random, {2, 3, 4});
  const Tensor z = x.permute({2, 0, -2});
  REQUIRE(z.shape() == Shape{4, 2, 3});
  for_each_position(z.shape(), [&](const Position& p) { CHECK(element(z, p) == x.at({p[1], p[2], p[0]})); });
  CHECK(z.storage() == x.storage());
  CHECK(holds(message_of<ShapeError>([&] { x.permute({0, 1}); }), "[2, 3, 4]"));
  CHECK_THROWS_AS(x.permute({0, 1, 1}), RangeError);
  CHECK_THROWS_AS(x.permute({0, 1, 3}), RangeError);
}

TEST_CASE("transposing twice gives back the same view") {
  Random random(2);
  for (int round = 0; round < 50; ++round) {
    const Tensor x = random_view(random, {2, 3, 4});
    CHECK(x.transpose(0, -1).at({3, 1, 0}) == x.at({0, 1, 3}));
    CHECK(x.transpose(0, 2).transpose(2, 0).strides() == x.strides());
  }
}

TEST_CASE("narrow shows the named elements of one axis") {
  const Tensor x = Tensor::arange(12).reshape({3, 4});
  CHECK(x.narrow(1, 1, 2).to_vector() == std::vector<Real>{1, 2, 5, 6, 9, 10});
  CHECK(x.narrow(-2, 2, 1).to_vector() == std::vector<Real>{8, 9, 10, 11});
  CHECK(x.narrow(0, 3, 0).shape() == Shape{0, 4});
  CHECK(holds(message_of<RangeError>([&] { x.narrow(1, 3, 2); }), "[3, 4]"));
  CHECK_THROWS_AS(x.narrow(0, -1, 1), RangeError);
  CHECK_THROWS_AS(x.narrow(0, 1, -1), RangeError);
  CHECK_THROWS_AS(x.narrow(0, 1, std::numeric_limits<Index>::max()), RangeError);
  CHECK_THROWS_AS(x.narrow(2, 0, 1), RangeError);
}

TEST_CASE("reshape keeps the row-major order of any view") {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    const Tensor x = random_view(random, random_shape(random, 4));
    std::vector<Real> expected;
    for_each_position(x.shape(), [&](const Position& p) { expected.push_back(element(x, p)); });
    CHECK(x.to_vector() == expected);
    const Tensor flat = x.reshape({-1});
    REQUIRE(flat.shape() == Shape{x.size()});
    CHECK(flat.to_vector() == expected);
    CHECK(flat.reshape(x.shape()).to_vector() == expected);
    for (const Index factor : {2, 3, 4}) {
      if (x.size() % factor != 0) continue;
      CHECK(x.reshape({factor, -1}).to_vector() == expected);
      CHECK(x.reshape({-1, 1, factor}).to_vector() == expected);
    }
  }
}

TEST_CASE("a transposed tensor flattens in its own order, not in that of the memory") {
  const Tensor x = Tensor::arange(6).reshape({2, 3}).transpose(0, 1);
  CHECK(x.reshape({6}).to_vector() == std::vector<Real>{0, 3, 1, 4, 2, 5});
  CHECK(x.reshape({6}).storage() != x.storage());
}

TEST_CASE("reshape is a view wherever strides can show it") {
  const Tensor x = Tensor::arange(24).reshape({2, 3, 4});
  CHECK(x.reshape({6, 4}).storage() == x.storage());
  CHECK(x.transpose(1, 2).reshape({2, 2, 2, 3}).storage() == x.storage());        // an axis split
  CHECK(x.narrow(2, 0, 2).reshape({6, 2}).storage() == x.storage());              // a window's rows joined
  CHECK(x.broadcast_to({5, 2, 3, 4}).reshape({5, 24}).storage() == x.storage());  // behind a broadcast axis
  CHECK(x.narrow(2, 0, 2).reshape({12}).storage() != x.storage());
}

TEST_CASE("a shape of another size does not fit, and the error names both shapes") {
  const Tensor x = Tensor::zeros({2, 3});
  for (const Shape& wanted : {Shape{7}, Shape{4, -1}, Shape{-1, -1}, Shape{0, -1}, Shape{}}) {
    CAPTURE(to_string(wanted));
    CHECK_THROWS_AS(x.reshape(wanted), ShapeError);
  }
  const std::string message = message_of<ShapeError>([&] { x.reshape({4, -1}); });
  CHECK(holds(message, "[2, 3]"));
  CHECK(holds(message, "[4, -1]"));
  CHECK_THROWS_AS(x.reshape({Index{1} << 62, 8, -1}), ShapeError);
  CHECK_THROWS_AS(Tensor::zeros({0}).reshape({0, -1}), ShapeError);  // every length would do
}

TEST_CASE("broadcast_to repeats without a copy") {
  Random random(4);
  const Tensor x = random_tensor(random, {3, 1});
  const Tensor z = x.broadcast_to({2, 3, 4});
  CHECK(z.storage() == x.storage());
  CHECK(z.strides() == Strides{0, 1, 0});
  for_each_position(z.shape(), [&](const Position& p) { CHECK(element(z, p) == broadcast_element(x, p)); });
  const std::string message = message_of<ShapeError>([&] { x.broadcast_to({3, 4, 1}); });
  CHECK(holds(message, "[3, 1]"));
  CHECK(holds(message, "[3, 4, 1]"));
  CHECK_THROWS_AS(x.broadcast_to({1}), ShapeError);
  CHECK_THROWS_AS(x.broadcast_to({3, -1}), ShapeError);
}

TEST_CASE("is_contiguous tells whether the memory is row-major without gaps") {
  const Tensor x = Tensor::zeros({2, 3, 4});
  CHECK(x.is_contiguous());
  CHECK_FALSE(x.transpose(0, 1).is_contiguous());
  CHECK_FALSE(x.narrow(1, 0, 2).is_contiguous());
  CHECK(x.narrow(0, 1, 1).is_contiguous());
  CHECK(x.narrow(0, 1, 1).transpose(0, 1).is_contiguous());  // an axis of length 1 has no say
  CHECK_FALSE(Tensor::zeros({1}).broadcast_to({2}).is_contiguous());
  CHECK(x.contiguous().storage() == x.storage());
  CHECK(x.transpose(0, 1).contiguous().is_contiguous());
}

TEST_CASE("copy_in_place writes through any view, element by element") {
  Random random(5);
  for (int round = 0; round < 100; ++round) {
    const Shape shape = random_shape(random, 4);
    const Tensor source = random_view(random, shape);
    Shape larger = shape;
    larger.push_back(3);
    Tensor whole = Tensor::zeros(larger);
    Tensor window = whole.narrow(-1, 1, 1).reshape(shape);
    window.copy_in_place(source);
    CHECK(same_bits(window, source));
    for (const Index outside : {0, 2})
      CHECK(same_bits(whole.narrow(-1, outside, 1).clone(),
                      Tensor::zeros(window.shape()).reshape(whole.narrow(-1, 0, 1).shape())));
  }
  Tensor x = Tensor::zeros({2, 3});
  const std::string message = message_of<ShapeError>([&] { x.copy_in_place(Tensor::zeros({3})); });
  CHECK(holds(message, "[2, 3]"));
  CHECK(holds(message, "[3]"));
}

TEST_CASE("copying between overlapping windows of one tensor reads before it writes") {
  Tensor x = Tensor::arange(6), square = Tensor::arange(4).reshape({2, 2});
  Tensor later = x.narrow(0, 1, 5);
  later.copy_in_place(x.narrow(0, 0, 5));
  CHECK(x.to_vector() == std::vector<Real>{0, 0, 1, 2, 3, 4});
  square.copy_in_place(square.transpose(0, 1));
  CHECK(square.to_vector() == std::vector<Real>{0, 2, 1, 3});
}

TEST_CASE("a broadcast view refuses to be written into") {
  Tensor x = Tensor::zeros({3}), view = x.broadcast_to({2, 3});
  CHECK(holds(message_of<ValueError>([&] { view.fill_in_place(1); }), "[2, 3]"));
  message_of<ValueError>([&] { view.copy_in_place(Tensor::full({2, 3}, 1)); });
  message_of<ValueError>([&] { add_in_place(view, x); });
  CHECK(x.to_vector() == std::vector<Real>{0, 0, 0});
  Tensor alone = x.broadcast_to({1, 3});  // nothing is repeated here
  alone.fill_in_place(2);
  CHECK(x.at({2}) == 2);
}

}  // namespace segue::tensor_tensor_test
