#include "tensor/tools/matmul_ladder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "tensor/matmul.hpp"
#include "tests/support/tensors.hpp"

namespace segue::tensor_matmul_ladder_test {

namespace {

// Portable builds round every product, so all rungs give the definition's bits; elsewhere one may fuse and the other
// not. |x| and |y| are at most 1.
void check_like_plain(const Rung& rung, const Tensor& x, const Tensor& y) {
  const Tensor z = rung(x, y), expected = matmul_plain(x, y);
  CAPTURE(rung.name);
  CAPTURE(to_string(x.shape()));
  CAPTURE(to_string(y.shape()));
  REQUIRE(z.shape() == expected.shape());
#ifdef SEGUE_PORTABLE
  CHECK(same_bits(z, expected));
#else
  const std::vector<Real> a = z.to_vector(), b = expected.to_vector();
  Real worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  CHECK(worst <= static_cast<Real>(x.dim(1)) * std::numeric_limits<Real>::epsilon());
#endif
}

}  // namespace

TEST_CASE("every rung gives the definition's numbers, at the edges of its tiles, panels and blocks") {
  Random random(1);
  for (const Rung& rung : matmul_ladder()) {
    for (const Index rows : {1, 4, 7, 8, 13}) {
      for (const Index columns : {1, 15, 16, 31, 32, 65}) {
        for (const Index depth : {1, 2, 9}) {
          check_like_plain(rung, random.uniform({rows, depth}, -1, 1), random.uniform({depth, columns}, -1, 1));
        }
      }
    }
    for (const Index depth : {255, 256, 257, 515})
      check_like_plain(rung, random.uniform({9, depth}, -1, 1), random.uniform({depth, 70}, -1, 1));
    for (const Index columns : {511, 512, 545, 1060})
      check_like_plain(rung, random.uniform({17, 258}, -1, 1), random.uniform({258, columns}, -1, 1));
  }
}

TEST_CASE("every rung gives the definition's bits where no sum is rounded, whatever the strides") {
  Random random(2);
  for (const Rung& rung : matmul_ladder()) {
    CAPTURE(rung.name);
    for (int round = 0; round < 40; ++round) {
      const Index rows = 1 + random.below(30), depth = 1 + random.below(40), columns = 1 + random.below(80);
      const Tensor x = random_view(random, {rows, depth}), y = random_view(random, {depth, columns});
      CHECK(same_bits(rung(x, y), matmul_plain(x, y)));
    }
    const Tensor x = random_tensor(random, {300, 21}), y = random_tensor(random, {550, 300});
    CHECK(same_bits(rung(x.transpose(0, 1), y.transpose(0, 1)), matmul_plain(x.transpose(0, 1), y.transpose(0, 1))));
  }
}

TEST_CASE("every rung sums in the order of the definition") {
  // 1 + e - 1 is 0 from left to right, where e is too small for 1 to notice, and e in any other order.
  const Real e = std::numeric_limits<Real>::epsilon() / 4;
  for (const Rung& rung : matmul_ladder()) {
    CAPTURE(rung.name);
    Tensor x = Tensor::zeros({9, 300});
    for (Index i = 0; i < 9; ++i) {
      x.set_in_place({i, 0}, 1);
      x.set_in_place({i, 150}, e);
      x.set_in_place({i, 299}, -1);  // in another block of depth
    }
    CHECK(rung(x, Tensor::full({300, 40}, 1)).to_vector() == std::vector<Real>(360, 0));
    x.set_in_place({0, 0}, 0);
    CHECK(rung(x, Tensor::full({300, 40}, 1)).at({0, 0}) == e - 1);
  }
}

TEST_CASE("a rung of no rows, columns or depth is an ordinary product") {
  for (const Rung& rung : matmul_ladder()) {
    CAPTURE(rung.name);
    CHECK(rung(Tensor::zeros({0, 3}), Tensor::zeros({3, 40})).shape() == Shape{0, 40});
    CHECK(rung(Tensor::zeros({9, 3}), Tensor::zeros({3, 0})).shape() == Shape{9, 0});
    CHECK(rung(Tensor::zeros({9, 0}), Tensor::zeros({0, 40})).to_vector() == std::vector<Real>(360, 0));
  }
}

TEST_CASE("a rung refuses what are no two matrices that fit, and names both shapes and the caller") {
  for (const Rung& rung : matmul_ladder()) {
    const Tensor x = Tensor::zeros({2, 3});
    for (const Tensor& wrong : {Tensor::zeros({4, 3}), Tensor::zeros({3}), Tensor::zeros({1, 3, 2})}) {
      const std::string message = message_of<ShapeError>([&] { rung(x, wrong); });
      CHECK(holds(message, "[2, 3] and " + to_string(wrong.shape())));
    }
  }
}

TEST_CASE("the ladder begins with the definition and ends with the library; no two rungs have one name") {
  const std::vector<Rung> ladder = matmul_ladder();
  std::set<std::string> names;
  for (const Rung& rung : ladder) names.insert(rung.name);
  CHECK(names.size() == ladder.size());
  CHECK(ladder.front().name == "three loops");
  CHECK(ladder.back().name == "matmul");
}

}  // namespace segue::tensor_matmul_ladder_test
