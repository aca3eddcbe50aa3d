// Functions of single elements against twins that visit one element after the other.
#include "tensor/elementwise.hpp"

#include <cmath>
#include <limits>

#include "tensor/tools/functions.hpp"
#include "tests/support/tensors.hpp"

namespace segue::tensor_elementwise_test {

namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();
constexpr Real not_a_number = std::numeric_limits<Real>::quiet_NaN();
constexpr double tolerance = 8 * static_cast<double>(std::numeric_limits<Real>::epsilon());

// Two shapes that broadcast: a common one with axes made 1, and leading ones dropped.
std::pair<Shape, Shape> broadcasting_shapes(Random& random) {
  const Shape common = random_shape(random, 4);
  Shape shapes[2];
  for (Shape& shape : shapes) {
    const auto dropped = static_cast<int>(random.below(2) * random.below(common.rank() + 1));
    for (int axis = dropped; axis < common.rank(); ++axis) shape.push_back(random.below(3) == 0 ? 1 : common[axis]);
  }
  return {shapes[0], shapes[1]};
}

template <class Op, class Plain>
void check_binary(const Op& op, const Plain& plain) {
  Random random(10);
  for (int round = 0; round < 150; ++round) {
    const auto [x_shape, y_shape] = broadcasting_shapes(random);
    const Tensor x = random_view(random, x_shape), y = random_view(random, y_shape);
    const Tensor z = op(x, y);
    CAPTURE(to_string(x_shape));
    CAPTURE(to_string(y_shape));
    REQUIRE(z.shape() == broadcast_shapes("test", x_shape, y_shape));
    for_each_position(z.shape(), [&](const Position& p) {
      const Real expected = plain(broadcast_element(x, p), broadcast_element(y, p)), got = element(z, p);
      REQUIRE((got == expected || (std::isnan(got) && std::isnan(expected))));
    });
  }
}

template <class Op, class Plain>
void check_unary(const Op& op, const Plain& plain) {
  Random random(11);
  for (int round = 0; round < 50; ++round) {
    const Tensor x = random_view(random, random_shape(random, 4));
    const Tensor z = op(x);
    REQUIRE(z.shape() == x.shape());
    for_each_position(z.shape(), [&](const Position& p) {
      const double expected = plain(static_cast<double>(element(x, p))), got = static_cast<double>(element(z, p));
      if (std::isnan(expected)) {
        REQUIRE(std::isnan(got));
      } else if (std::isinf(expected)) {
        REQUIRE(got == expected);
      } else {
        REQUIRE(std::abs(got - expected) <= tolerance * (1 + std::abs(expected)));
      }
    });
  }
}

}  // namespace

TEST_CASE("arithmetic works element by element for any shapes, strides and broadcasts") {
  check_binary([](const Tensor& x, const Tensor& y) { return add(x, y); }, [](Real a, Real b) { return a + b; });
  check_binary([](const Tensor& x, const Tensor& y) { return sub(x, y); }, [](Real a, Real b) { return a - b; });
  check_binary([](const Tensor& x, const Tensor& y) { return mul(x, y); }, [](Real a, Real b) { return a * b; });
  check_binary([](const Tensor& x, const Tensor& y) { return div(x, y); }, [](Real a, Real b) { return a / b; });
}

TEST_CASE("masked_fill replaces what the mask names and keeps the rest") {
  Random random(12);
  for (int round = 0; round < 100; ++round) {
    const auto [x_shape, m_shape] = broadcasting_shapes(random);
    const Tensor x = random_view(random, broadcast_shapes("test", x_shape, m_shape)),
                 signs = random_view(random, m_shape);
    const Tensor mask = relu(signs), z = masked_fill(x, mask, -infinity), before = x.clone();
    REQUIRE(z.shape() == x.shape());
    for_each_position(z.shape(), [&](const Position& p) {
      REQUIRE(element(z, p) == (broadcast_element(mask, p) != 0 ? -infinity : element(x, p)));
    });
    CHECK(same_bits(x, before));
  }
  const std::string message = message_of<ShapeError>([] { masked_fill(Tensor::zeros({3}), Tensor::zeros({2, 3}), 0); });
  CHECK(holds(message, "[2, 3]"));
  CHECK(holds(message, "[3]"));
}

TEST_CASE("functions agree with those of the standard library on every element") {
  check_unary([](const Tensor& x) { return exp(x); }, [](double a) { return std::exp(a); });
  check_unary([](const Tensor& x) { return log(x); }, [](double a) { return std::log(a); });
  check_unary([](const Tensor& x) { return sqrt(x); }, [](double a) { return std::sqrt(a); });
  check_unary([](const Tensor& x) { return tanh(x); }, [](double a) { return std::tanh(a); });
  check_unary([](const Tensor& x) { return sigmoid(x); }, [](double a) { return 1 / (1 + std::exp(-a)); });
  check_unary([](const Tensor& x) { return relu(x); }, [](double a) { return a > 0 ? a : 0; });
  check_unary([](const Tensor& x) { return neg(x); }, [](double a) { return -a; });
  check_unary([](const Tensor& x) { return scale(x, -3); }, [](double a) { return -3 * a; });
  const Tensor base = Tensor::scalar(2);
  check_unary([&](const Tensor& x) { return pow(base, x); }, [](double a) { return std::pow(2.0, a); });
  check_unary([&](const Tensor& x) { return pow(x, base); }, [](double a) { return a * a; });
}

TEST_CASE("powers have the limits of the standard") {
  const Tensor x({6}, {0, 0, 0, -8, 2, -2}), y({6}, {0, 1, -1, Real(0.5), infinity, 3});
  const std::vector<Real> z = pow(x, y).to_vector();
  CHECK(z[0] == 1);
  CHECK(z[1] == 0);
  CHECK(z[2] == infinity);
  CHECK(std::isnan(z[3]));
  CHECK(z[4] == infinity);
  CHECK(std::abs(z[5] + 8) <= Real(8 * tolerance));
}

TEST_CASE("NaN and infinity keep their meaning") {
  const Tensor x({4}, {not_a_number, infinity, -infinity, 0});
  CHECK(std::isnan(relu(x).at({0})));
  CHECK(relu(x).at({1}) == infinity);
  CHECK(relu(x).at({2}) == 0);
  CHECK(exp(x).at({2}) == 0);
  CHECK(exp(x).at({1}) == infinity);
  CHECK(log(x).at({3}) == -infinity);
  CHECK(tanh(x).at({2}) == -1);
  CHECK(sigmoid(x).at({2}) == 0);
  for (const Tensor& z : {exp(x), log(x), sqrt(x), tanh(x), sigmoid(x), neg(x), scale(x, 0)})
    CHECK(std::isnan(z.at({0})));
  CHECK(std::isnan(sub(x, x).at({1})));
  CHECK(std::isnan(mul(x, Tensor::scalar(0)).at({1})));
  CHECK(div(Tensor::scalar(1), x).at({3}) == infinity);
}

TEST_CASE("all_finite finds a single NaN or infinity, wherever it stands") {
  CHECK(all_finite(Tensor::zeros({0})));
  CHECK(all_finite(Tensor::full({3000}, std::numeric_limits<Real>::max())));
  CHECK(all_finite(Tensor::full({3}, -std::numeric_limits<Real>::max())));
  for (const Real bad : {not_a_number, infinity, -infinity}) {
    for (const Index place : {0, 1, 15, 16, 1023, 1024, 2999}) {
      Tensor x = Tensor::full({3000}, 1);
      x.set_in_place({place}, bad);
      CHECK_FALSE(all_finite(x));
      CHECK(all_finite(x.narrow(0, 0, place)));
      CHECK_FALSE(all_finite(x.reshape({30, 100}).transpose(0, 1)));
    }
  }
}

TEST_CASE("shapes that do not broadcast name the operation, both shapes and the caller's line") {
  const Tensor x = Tensor::zeros({2, 3}), y = Tensor::zeros({4, 3});
  const std::string messages[] = {
      message_of<ShapeError>([&] { add(x, y); }), message_of<ShapeError>([&] { sub(x, y); }),
      message_of<ShapeError>([&] { mul(x, y); }), message_of<ShapeError>([&] { div(x, y); }),
      message_of<ShapeError>([&] { pow(x, y); })};
  const char* names[] = {"add", "sub", "mul", "div", "pow"};
  for (int i = 0; i < 5; ++i) {
    CHECK(holds(messages[i], names[i]));
    CHECK(holds(messages[i], "[2, 3]"));
    CHECK(holds(messages[i], "[4, 3]"));
  }
}

TEST_CASE("results are new tensors") {
  const Tensor x = Tensor::full({2}, 3);
  for (Tensor z : {scale(x, 1), relu(x), add(x, Tensor::scalar(0)), masked_fill(x, Tensor::scalar(0), 1)}) {
    CHECK(z.storage() != x.storage());
    CHECK(z.is_contiguous());
  }
}

TEST_CASE("add_in_place writes through any view what add returns") {
  Random random(13);
  for (int round = 0; round < 100; ++round) {
    const auto [a, b] = broadcasting_shapes(random);
    const Shape shape = broadcast_shapes("test", a, b);
    Tensor whole = random_tensor(random, shape).broadcast_to(shape).clone();
    Tensor x = whole.rank() > 1 ? whole.transpose(0, -1).contiguous().transpose(0, -1) : whole;
    const Tensor y = random_view(random, b), sum = add(x, y);
    add_in_place(x, y);
    CHECK(same_bits(x, sum));
  }
}

TEST_CASE("add_in_place reads a tensor that overlaps its target before writing") {
  Tensor x = Tensor::arange(4).reshape({2, 2});
  add_in_place(x, x);
  CHECK(x.to_vector() == std::vector<Real>{0, 2, 4, 6});
  add_in_place(x, x.transpose(0, 1));
  CHECK(x.to_vector() == std::vector<Real>{0, 6, 6, 12});
  Tensor y = Tensor::full({3, 4}, 1);
  add_in_place(y, y.narrow(0, 0, 1));  // the same start and strides, and yet another shape
  CHECK(same_bits(y, Tensor::full({3, 4}, 2)));
  Tensor z = Tensor::arange(5), shifted = z.narrow(0, 1, 4);
  add_in_place(shifted, z.narrow(0, 0, 4));
  CHECK(z.to_vector() == std::vector<Real>{0, 1, 3, 5, 7});
}

TEST_CASE("a source that does not broadcast to the target is an error and changes nothing") {
  Tensor x = Tensor::full({3}, 1);
  const std::string message = message_of<ShapeError>([&] { add_in_place(x, Tensor::zeros({2, 3})); });
  CHECK(holds(message, "[3]"));
  CHECK(holds(message, "[2, 3]"));
  CHECK(same_bits(x, Tensor::full({3}, 1)));
}

}  // namespace segue::tensor_elementwise_test
