#include "tensor/matmul.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/tensors.hpp"

namespace segue::tensor_matmul_test {

namespace {

std::mt19937_64 generator(7);

Index pick(Index low, Index high) {
  return low + static_cast<Index>(generator() % static_cast<std::uint64_t>(high - low + 1));
}

Tensor random_tensor(const Shape& shape) {
  Tensor tensor = Tensor::uninitialized(shape);
  Real* const out = tensor.data_in_place();
  for (Index i = 0; i < tensor.size(); ++i) out[i] = static_cast<Real>(pick(-1000, 1000)) / 512;
  return tensor;
}

// Random numbers of this shape under one of the strides a tensor can have: plain, transposed, a window, every other
// one.
Tensor random_view(const Shape& shape) {
  Shape larger = shape;
  const int last = shape.rank() - 1;
  switch (pick(0, 3)) {
    case 0:
      return random_tensor(shape);
    case 1:
      std::swap(larger[last - 1], larger[last]);
      return random_tensor(larger).transpose(-1, -2);
    case 2:
      larger[last] += 3;
      return random_tensor(larger).narrow(-1, 2, shape[last]);
    default:
      larger.push_back(2);
      return random_tensor(larger).narrow(-1, 1, 1).reshape(shape);
  }
}

// Portable builds round every product, so both ways give the same bits; elsewhere one of them may fuse and the other
// not.
void check_like_plain(const Tensor& x, const Tensor& y) {
  const Tensor z = matmul(x, y), expected = matmul_plain(x, y);
  CAPTURE(to_string(x.shape()));
  CAPTURE(to_string(y.shape()));
  REQUIRE(z.shape() == expected.shape());
#ifdef SEGUE_PORTABLE
  CHECK(same_bits(z, expected));
#else
  const auto depth = static_cast<Real>(x.dim(-1));
  Real worst = 0;
  for (Index i = 0; i < z.size(); ++i) worst = std::max(worst, std::abs(z.data()[i] - expected.data()[i]));
  CHECK(worst <= 4 * depth * std::numeric_limits<Real>::epsilon() * 4);
#endif
}

}  // namespace

TEST_CASE("matmul gives the products worked out by hand") {
  const Tensor x({2, 3}, {1, 2, 3, 4, 5, 6}), y({3, 2}, {7, 8, 9, 10, 11, 12});
  for (const Tensor& z : {matmul(x, y), matmul_plain(x, y)}) {
    CHECK(z.shape() == Shape{2, 2});
    CHECK(z.to_vector() == std::vector<Real>{58, 64, 139, 154});
  }
}

TEST_CASE("matmul agrees with the three loops for every size around the edges of its tiles") {
  for (const Index rows : {1, 2, 5, 6, 7, 8, 9, 13, 17, 33}) {
    for (const Index columns : {1, 3, 4, 7, 8, 9, 16, 17, 31, 32, 33, 64, 65}) {
      for (const Index depth : {1, 2, 3, 4, 5, 9}) {
        check_like_plain(random_view({rows, depth}), random_view({depth, columns}));
      }
    }
  }
}

TEST_CASE("matmul agrees with the three loops beyond one block of depth and of columns") {
  check_like_plain(random_view({19, 257}), random_view({257, 35}));
  check_like_plain(random_view({7, 515}), random_view({515, 530}));
  check_like_plain(random_view({1, 300}), random_view({300, 1030}));
  check_like_plain(random_tensor({65, 260}).transpose(0, 1), random_tensor({66, 65}).transpose(0, 1));
  check_like_plain(random_tensor({40, 300}), random_tensor({300, 290}));
}

TEST_CASE("matmul agrees with the three loops for random shapes, strides and broadcasts") {
  for (int round = 0; round < 300; ++round) {
    Shape x, y;
    for (int axis = static_cast<int>(pick(0, 3)); axis > 0; --axis) {
      const Index length = pick(1, 3);
      if (axis == 1 || pick(0, 3) > 0) x.push_back(x.rank() > 0 || pick(0, 2) > 0 ? length : 1);
      y.push_back(pick(0, 2) > 0 ? length : 1);
    }
    for (int back = 1; back <= std::min(x.rank(), y.rank()); ++back) {  // make them fit
      Index &a = x[x.rank() - back], &b = y[y.rank() - back];
      if (a != b && a != 1) b = 1;
    }
    const Index depth = pick(1, 40);
    for (const Index length : {pick(1, 20), depth}) x.push_back(length);
    for (const Index length : {depth, pick(1, 40)}) y.push_back(length);
    check_like_plain(random_view(x), random_view(y));
  }
}

TEST_CASE("matmul reads heads that were split off by a permutation") {
  const Tensor q = random_tensor({2, 9, 3, 16}).permute({0, 2, 1, 3});   // [B, H, T, Dh]
  const Tensor k = random_tensor({2, 14, 3, 16}).permute({0, 2, 3, 1});  // [B, H, Dh, K]
  check_like_plain(q, k);
  check_like_plain(random_tensor({2, 3, 9, 14}), k.transpose(-1, -2));
}

TEST_CASE("matmul applies one matrix to many rows, however they are stacked, with the same bits") {
  const Tensor x = random_tensor({3, 5, 24}), y = random_tensor({24, 37});
  const Tensor z = matmul(x, y);
  CHECK(z.shape() == Shape{3, 5, 37});
  CHECK(same_bits(z, matmul(x.reshape({15, 24}), y).reshape({3, 5, 37})));
  for (Index b = 0; b < 3; ++b) CHECK(same_bits(z.narrow(0, b, 1), matmul(x.narrow(0, b, 1), y)));
  const Tensor rows_first = x.permute({1, 0, 2});
  CHECK(same_bits(z.permute({1, 0, 2}), matmul(rows_first, y)));
}

TEST_CASE("an element of a product has the same bits whatever is computed beside it") {
  const Tensor x = random_tensor({21, 300}), y = random_tensor({300, 75});
  const Tensor z = matmul(x, y);
  for (const Index i : {0, 7, 20}) {
    for (const Index j : {0, 16, 63, 74}) {
      CHECK(same_bits(z.narrow(0, i, 1).narrow(1, j, 1), matmul(x.narrow(0, i, 1), y.narrow(1, j, 1))));
    }
  }
  CHECK(same_bits(z, matmul(x, y.transpose(0, 1).contiguous().transpose(0, 1))));
  CHECK(same_bits(z, matmul(x.transpose(0, 1).contiguous().transpose(0, 1), y)));
}

TEST_CASE("matmul has the same bits for any number of threads [threads]") {
  const Tensor x = random_tensor({130, 300}), y = random_tensor({300, 600});
  const Tensor stack_x = random_tensor({6, 40, 50}), stack_y = random_tensor({6, 50, 40});
  const Tensor z = matmul(x, y), stack_z = matmul(stack_x, stack_y);
  for (const int count : {1, 2, 5}) {
    const SharingThreads threads(count);
    CHECK(same_bits(z, matmul(x, y)));
    CHECK(same_bits(stack_z, matmul(stack_x, stack_y)));
  }
}

TEST_CASE("NaN and infinity reach exactly the elements they belong to") {
  const Real infinity = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();
  Tensor x = Tensor::full({9, 5}, 1), y = Tensor::full({5, 35}, 1);
  x.set_in_place({8, 4}, infinity);
  y.set_in_place({4, 34}, nan);
  y.set_in_place({2, 33}, -infinity);
  for (const Tensor& right : {y, y.transpose(0, 1).contiguous().transpose(0, 1)}) {
    const Tensor z = matmul(x, right), expected = matmul_plain(x, right);
    for (Index i = 0; i < 9; ++i) {
      for (Index j = 0; j < 35; ++j) {
        const Real a = z.at({i, j}), b = expected.at({i, j});
        CHECK((a == b || (std::isnan(a) && std::isnan(b))));
        CHECK(std::isfinite(a) == (i < 8 && j < 33));
      }
    }
  }
  CHECK(std::isnan(matmul(Tensor({1, 1}, {0}), Tensor({1, 1}, {infinity})).item()));
}

TEST_CASE("a sum over nothing is zero, and products without elements are ordinary") {
  CHECK(matmul(Tensor::zeros({2, 0}), Tensor::zeros({0, 3})).to_vector() == std::vector<Real>(6, 0));
  CHECK(matmul_plain(Tensor::zeros({2, 0}), Tensor::zeros({0, 3})).to_vector() == std::vector<Real>(6, 0));
  CHECK(matmul(Tensor::zeros({0, 4}), Tensor::zeros({4, 3})).shape() == Shape{0, 3});
  CHECK(matmul(Tensor::zeros({2, 4}), Tensor::zeros({4, 0})).shape() == Shape{2, 0});
  CHECK(matmul(Tensor::zeros({0, 2, 4}), Tensor::zeros({4, 3})).shape() == Shape{0, 2, 3});
  CHECK(matmul_plain(Tensor::zeros({2, 4}), Tensor::zeros({4, 0})).shape() == Shape{2, 0});
  CHECK(matmul_plain(Tensor::zeros({0, 2, 4}), Tensor::zeros({4, 3})).shape() == Shape{0, 2, 3});
}

TEST_CASE("matmul works on shapes of the highest rank") {
  check_like_plain(random_tensor({1, 1, 2, 1, 1, 2, 1, 3}), random_tensor({1, 1, 2, 1, 3, 2, 3, 2}));
}

TEST_CASE("matmul refuses shapes that do not fit and names both") {
  const Tensor x = Tensor::zeros({2, 3});
  const auto message = [](const Tensor& a, const Tensor& b) -> std::string {
    try {
      matmul(a, b);
    } catch (const ShapeError& error) {
      return error.what();
    }
    return "";
  };
  for (const Tensor& wrong : {Tensor::zeros({4, 3}), Tensor::zeros({3}), Tensor::scalar(1)}) {
    CHECK_THROWS_AS(matmul_plain(x, wrong), ShapeError);
    CHECK(message(x, wrong).find("[2, 3]") != std::string::npos);
    CHECK(message(x, wrong).find(to_string(wrong.shape())) != std::string::npos);
    CHECK(message(x, wrong).find("matmul_test.cpp") != std::string::npos);
  }
  CHECK_THROWS_AS(matmul(Tensor::zeros({3}), x), ShapeError);
  CHECK_THROWS_AS(matmul(Tensor::zeros({2, 5, 3}), Tensor::zeros({3, 3, 4})), ShapeError);
}

}  // namespace segue::tensor_matmul_test
