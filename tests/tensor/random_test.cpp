// Random numbers: the recorded ones of the standard, the distributions, and going on from a saved state.
#include "tensor/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <locale>
#include <map>
#include <numbers>

#include "tensor/tools/shuffle.hpp"
#include "tests/support/tensors.hpp"

namespace segue::tensor_random_test {

TEST_CASE("the generator is the one of the standard") {
  // [rand.predef]: the 10000th number of mt19937_64 from its default seed 5489 is 9981545732273789042.
  Random random(5489);
  for (int i = 1; i < 10000; ++i) random.uniform();
  CHECK(random.uniform() == static_cast<double>(9981545732273789042U >> 11) * 0x1p-53);
}

TEST_CASE("the same seed gives the same numbers, another seed others") {
  Random a(7), b(7), c(8);
  CHECK(same_bits(a.normal({50}, 0, 1), b.normal({50}, 0, 1)));
  CHECK_FALSE(same_bits(a.normal({50}, 0, 1), c.normal({50}, 0, 1)));
  Random d(0), e(0);
  for (int i = 0; i < 10; ++i) CHECK(d.below(1000) == e.below(1000));
}

TEST_CASE("uniform numbers lie in [0, 1) with the mean and variance of the uniform distribution") {
  Random random(1);
  const int n = 20000;
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const double x = random.uniform();
    REQUIRE(x >= 0);
    REQUIRE(x < 1);
    sum += x;
    squares += x * x;
  }
  const double mean = sum / n;
  CHECK(std::abs(mean - 0.5) < 5 * std::sqrt(1.0 / 12 / n));
  CHECK(std::abs(squares / n - mean * mean - 1.0 / 12) < 0.003);
}

TEST_CASE("normal numbers are those of Box and Muller from the same uniform ones") {
  Random random(2), twin(2);
  for (int i = 0; i < 2000; ++i) {
    const double u = twin.uniform(), v = twin.uniform();
    const double expected = std::sqrt(-2 * std::log(1 - u)) * std::cos(2 * std::numbers::pi * v);
    REQUIRE(std::abs(random.normal() - expected) < 1e-14 * (1 + std::abs(expected)) * 10);
  }
}

TEST_CASE("normal numbers have mean 0, variance 1, and the tails of the bell curve") {
  Random random(3);
  const int n = 20000;
  double sum = 0, squares = 0;
  int within_one = 0, beyond_two = 0;
  for (int i = 0; i < n; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    within_one += std::abs(x) < 1;
    beyond_two += std::abs(x) > 2;
  }
  CHECK(std::abs(sum / n) < 5 / std::sqrt(n));
  CHECK(std::abs(squares / n - 1) < 5 * std::sqrt(2.0 / n));
  CHECK(std::abs(within_one / double(n) - 0.6827) < 0.017);
  CHECK(std::abs(beyond_two / double(n) - 0.0455) < 0.0075);
}

TEST_CASE("random tensors have the asked shape, range, mean and deviation") {
  Random random(4);
  const std::vector<Real> x = random.uniform({20, 50}, -3, 5).to_vector();
  CHECK(*std::min_element(x.begin(), x.end()) >= -3);
  CHECK(*std::max_element(x.begin(), x.end()) <= 5);
  CHECK(*std::max_element(x.begin(), x.end()) > Real(4.9));
  Real sum = 0;
  for (const Real value : random.normal({100, 100}, 10, 2).to_vector()) sum += value;
  CHECK(std::abs(sum / 10000 - 10) < Real(0.1));
  CHECK(random.normal({2, 0}, 0, 1).shape() == Shape{2, 0});
  CHECK(random.normal({3}, 4, 0).to_vector() == std::vector<Real>{4, 4, 4});
  message_of<ShapeError>([&] { random.uniform({-1}, 0, 1); });
  message_of<ShapeError>([&] { random.normal({-1}, 0, 1); });
}

TEST_CASE("below gives every number under its limit equally often") {
  Random random(5);
  std::array<int, 6> counts{};
  for (int i = 0; i < 30000; ++i) ++counts[static_cast<std::size_t>(random.below(6))];
  double chi_squared = 0;
  for (const int count : counts) chi_squared += (count - 5000.0) * (count - 5000.0) / 5000;
  CHECK(chi_squared < 20.5);  // 5 degrees of freedom: beyond this in one case of a thousand
  CHECK(random.below(1) == 0);
}

TEST_CASE("below has no bias for limits where the remainder of a draw would have one") {
  Random random(6);
  const Index limit = 3 * (Index{1} << 61);
  int lower_thirds = 0;  // a bare remainder puts 3 in 4 below 2^62, which is two thirds of the range
  for (int i = 0; i < 6000; ++i) lower_thirds += random.below(limit) < (Index{1} << 62);
  CHECK(std::abs(lower_thirds - 4000) < 5 * 37);
}

TEST_CASE("a limit of 0 or less is a value error that names it") {
  Random random(7);
  CHECK(holds(message_of<ValueError>([&] { random.below(0); }), "got 0"));
  CHECK(holds(message_of<ValueError>([&] { random.below(-5); }), "got -5"));
}

TEST_CASE("shuffle gives every order equally often") {
  Random random(8);
  std::map<std::vector<Index>, int> counts;
  for (int i = 0; i < 24000; ++i) {
    std::vector<Index> order{0, 1, 2, 3};
    shuffle(order, random);
    ++counts[order];
  }
  REQUIRE(counts.size() == 24);
  double chi_squared = 0;
  for (const auto& [order, count] : counts) chi_squared += (count - 1000.0) * (count - 1000.0) / 1000;
  CHECK(chi_squared < 49.7);  // 23 degrees of freedom: beyond this in one case of a thousand
}

TEST_CASE("shuffle keeps all elements, and the same seed the same order") {
  std::vector<Index> a(100), none, one{7};
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<Index>(i);
  std::vector<Index> b = a, sorted = a;
  Random first(9), second(9);
  shuffle(a, first);
  shuffle(b, second);
  CHECK(a == b);
  CHECK(a != sorted);
  std::sort(a.begin(), a.end());
  CHECK(a == sorted);
  shuffle(none, first);
  shuffle(one, first);
  CHECK(one == std::vector<Index>{7});
}

TEST_CASE("a restored generator goes on where the saved one stood") {
  Random random(10), other(11);
  for (int i = 0; i < 1000; ++i) random.uniform();
  const std::string state = random.state();
  const Tensor expected = random.normal({700}, 0, 1);
  other.restore(state);
  CHECK(same_bits(other.normal({700}, 0, 1), expected));
  random.restore(state);
  CHECK(random.state() == state);
}

TEST_CASE("text that is no state is a value error and leaves the generator as it was") {
  Random random(12);
  const std::string state = random.state();
  const std::string wrong[] = {"",           "a generator", "1 2 3",    state.substr(0, state.size() / 2),
                               state + " 7", state + "x",   "-" + state};
  for (const std::string& text : wrong) {
    CAPTURE(text);
    CHECK_THROWS_AS(random.restore(text), ValueError);
    CHECK(random.state() == state);
  }
  message_of<ValueError>([&] { random.restore("no"); });
}

TEST_CASE("the state does not depend on how the user's country writes numbers") {
  struct Grouped : std::numpunct<char> {
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  Random random(13);
  const std::string state = random.state();
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Grouped));
  const std::string grouped = random.state();
  Random other(14);
  other.restore(state);
  std::locale::global(before);
  CHECK(grouped == state);
  CHECK(other.state() == state);
}

TEST_CASE("A uniform number never reaches the upper end, however close it is") {
  Random random(3);
  const Real next = std::nextafter(Real(1), Real(2));
  for (const Real x : random.uniform({10000}, 1, next).to_vector()) CHECK(x == 1);
  const Real high = std::nextafter(next, Real(2));
  for (const Real x : random.uniform({10000}, 1, high).to_vector()) REQUIRE(x < high);
  for (const Real x : random.uniform({1000000}, 0, 1).to_vector()) REQUIRE(x < 1);
}

}  // namespace segue::tensor_random_test
