#include "xl/relative_shift.hpp"

#include <doctest/doctest.h>

#include "autograd/matmul.hpp"
#include "tests/support/random_inputs.hpp"
#include "xl/sinusoids.hpp"

namespace segue::xl_relative_shift_test {

namespace {

// Zeros where key j lies behind query i, as the mask will make them.
Tensor visible_part(const Tensor& z) {
  if (z.size() == 0) return z;
  Tensor visible = z.clone();
  const Index T = z.dim(-2), K = z.dim(-1);
  const Tensor rows = visible.reshape({-1, T, K});  // a view
  for (Index b = 0; b < rows.dim(0); ++b) {
    for (Index i = 0; i < T; ++i) {
      for (Index j = K - T + i + 1; j < K; ++j) Tensor(rows).set_in_place({b, i, j}, 0);
    }
  }
  return visible;
}

}  // namespace

TEST_CASE("Three by three: one column of zeros on the left, and the first row dropped") {
  const Tensor x({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(relative_shift(Variable(x)).value().to_vector() == std::vector<Real>{3, 0, 4, 5, 6, 0, 7, 8, 9});
  CHECK(relative_shift_by_index(x).to_vector() == std::vector<Real>{3, 0, 0, 5, 6, 0, 7, 8, 9});
}

TEST_CASE("Three by five: each row moves to the left so that its distance 0 stands at the query's own key") {
  const Tensor x({3, 5}, {4, 3, 2, 1, 0, 4, 3, 2, 1, 0, 4, 3, 2, 1, 0});  // distances
  CHECK(relative_shift_by_index(x).to_vector() == std::vector<Real>{2, 1, 0, 0, 0, 3, 2, 1, 0, 0, 4, 3, 2, 1, 0});
  const Tensor tens({3, 5}, {14, 13, 12, 11, 10, 24, 23, 22, 21, 20, 34, 33, 32, 31, 30});  // and rows
  CHECK(relative_shift(Variable(tens)).value().to_vector() ==
        std::vector<Real>{12, 11, 10, 0, 24, 23, 22, 21, 20, 0, 34, 33, 32, 31, 30});
  CHECK(same_bits(visible_part(relative_shift(Variable(tens)).value()), relative_shift_by_index(tens)));
}

TEST_CASE("The trick is the index formula on every visible key, whatever the lengths and leading axes") {
  Random random(1);
  for (int trial = 0; trial < 60; ++trial) {
    const Index T = random.below(7), K = T + random.below(7);
    for (const Shape& shape : {Shape{T, K}, Shape{2, T, K}, Shape{2, 3, T, K}}) {
      const Tensor x = random.uniform(shape, -1, 1);
      CHECK(same_bits(visible_part(relative_shift(Variable(x)).value()), relative_shift_by_index(x)));
    }
  }
}

TEST_CASE("A view is shifted as its copy is") {
  const Tensor x = random_tensor({2, 5, 4}).transpose(1, 2);  // [2, 4, 5]
  CHECK(same_bits(relative_shift(Variable(x)).value(), relative_shift(Variable(x.contiguous())).value()));
  CHECK(same_bits(relative_shift_by_index(x), relative_shift_by_index(x.contiguous())));
}

TEST_CASE("A shifted score is the query against the encoding of its distance to the key") {
  const Index D = 6;
  for (const Index T : {1, 3, 5}) {
    for (const Index M : {0, 1, 4}) {
      const Index K = M + T;
      const Tensor q = random_tensor({T, D}), R = distance_sinusoids(K, 0, D);
      const Tensor BD = relative_shift(matmul(Variable(q), Variable(R.transpose(0, 1)))).value();
      for (Index i = 0; i < T; ++i) {
        for (Index j = 0; j <= M + i; ++j) {
          const Tensor r = sinusoids({(M + i) - j}, D);
          double dot = 0;
          for (Index d = 0; d < D; ++d) dot += static_cast<double>(q.at({i, d})) * static_cast<double>(r.at({0, d}));
          CHECK(std::abs(static_cast<double>(BD.at({i, j})) - dot) < (sizeof(Real) == 8 ? 1e-12 : 1e-5));
        }
      }
    }
  }
}

TEST_CASE("The gradient of the shift is that of central differences") {
  check_gradients([](const std::vector<Variable>& v) { return relative_shift(v[0]); }, {{2, 3, 5}});
  check_gradients([](const std::vector<Variable>& v) { return relative_shift(v[0]); }, {{4, 4}});
}

TEST_CASE("More queries than keys, or no two axes, is an error that shows the shape") {
  for (const Shape& shape : {Shape{4, 3}, Shape{2, 1, 0}, Shape{3}, Shape{}}) {
    const std::string shown = "got " + to_string(shape);
    CHECK(holds(thrown_by<ShapeError>([&] { relative_shift(Variable(Tensor::zeros(shape))); }), shown));
    CHECK(holds(thrown_by<ShapeError>([&] { relative_shift_by_index(Tensor::zeros(shape)); }), shown));
  }
}

}  // namespace segue::xl_relative_shift_test
