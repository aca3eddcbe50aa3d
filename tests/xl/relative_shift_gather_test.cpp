#include "xl/tools/relative_shift_gather.hpp"

#include <doctest/doctest.h>

#include "tests/support/random_inputs.hpp"
#include "xl/relative_shift.hpp"

namespace segue::xl_relative_shift_gather_test {

namespace {

Variable shifted(const Variable& x) {
  return relative_shift_by_gather(x, relative_shift_indices(x.dim(-2), x.dim(-1)));
}

}  // namespace

TEST_CASE("Three by five: the look-up moves each row, and repeats its distance 0 where there is no distance") {
  CHECK(relative_shift_indices(3, 5).ids == std::vector<Index>{2, 3, 4, 4, 4, 6, 7, 8, 9, 9, 10, 11, 12, 13, 14});
  const Tensor tens({3, 5}, {14, 13, 12, 11, 10, 24, 23, 22, 21, 20, 34, 33, 32, 31, 30});
  CHECK(shifted(Variable(tens)).value().to_vector() ==
        std::vector<Real>{12, 11, 10, 10, 10, 23, 22, 21, 20, 20, 34, 33, 32, 31, 30});
}

TEST_CASE("The look-up, the trick and the index formula agree on every visible key") {
  Random random(1);
  for (int trial = 0; trial < 40; ++trial) {
    const Index T = random.below(7), K = T + random.below(7);
    for (const Shape& shape : {Shape{T, K}, Shape{2, T, K}, Shape{2, 3, T, K}, Shape{0, T, K}}) {
      const Tensor x = random.uniform(shape, -1, 1);
      const Tensor gathered = shifted(Variable(x)).value(), formula = relative_shift_by_index(x);
      const Tensor trick = relative_shift(Variable(x)).value();
      REQUIRE(gathered.shape() == shape);
      if (x.size() == 0) continue;
      const Tensor a = gathered.reshape({-1, T, K}), b = formula.reshape({-1, T, K}), c = trick.reshape({-1, T, K});
      for (Index m = 0; m < a.dim(0); ++m) {
        for (Index i = 0; i < T; ++i) {
          for (Index j = 0; j <= (K - T) + i; ++j) {
            CHECK(a.at({m, i, j}) == b.at({m, i, j}));
            CHECK(a.at({m, i, j}) == c.at({m, i, j}));
          }
        }
      }
    }
  }
}

TEST_CASE("The gradient of the look-up is that of central differences") {
  check_gradients([](const std::vector<Variable>& v) { return shifted(v[0]); }, {{2, 3, 5}});
  check_gradients([](const std::vector<Variable>& v) { return shifted(v[0]); }, {{4, 4}});
}

TEST_CASE("More queries than keys, no two axes, or indices of another shape are errors that show the shape") {
  CHECK(holds(thrown_by<ShapeError>([] { relative_shift_indices(4, 3); }), "T = 4, K = 3"));
  CHECK_THROWS_AS(relative_shift_indices(-1, 3), ShapeError);
  CHECK_THROWS_AS(relative_shift_indices(Index(1) << 31, Index(1) << 33), ShapeError);  // 2^64 of them
  const Tokens indices = relative_shift_indices(3, 4);
  for (const Shape& shape : {Shape{3, 5}, Shape{4, 3}, Shape{12}, Shape{}}) {
    const std::string shown = "got " + to_string(shape);
    CHECK(holds(thrown_by<ShapeError>([&] { relative_shift_by_gather(Variable(Tensor::zeros(shape)), indices); }),
                shown));
  }
}

}  // namespace segue::xl_relative_shift_gather_test
