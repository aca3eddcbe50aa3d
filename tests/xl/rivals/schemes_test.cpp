// Each scheme against its formula, one score and one sum at a time.
#include <doctest/doctest.h>

#include "autograd/backward.hpp"
#include "tests/xl/rivals/tiny_rivals.hpp"
#include "xl/rivals/absolute.hpp"
#include "xl/rivals/distances.hpp"
#include "xl/rivals/four_terms.hpp"
#include "xl/rivals/learned_relative.hpp"
#include "xl/rivals/shaw.hpp"
#include "xl/sinusoids.hpp"

namespace segue::xl_schemes_test {

namespace {

constexpr Index B = 2, H = 2, Dh = 3, D = 4;

// Queries, keys, values and weights as attention has them: a weight is 0 where the key lies behind the query.
struct Inputs {
  Inputs(Index t, Index m)
      : T(t),
        M(m),
        K(m + t),
        q(random_tensor({B, H, T, Dh}, -1, 1, 31)),
        k(random_tensor({B, H, K, Dh}, -1, 1, 32)),
        values(random_tensor({B, H, K, Dh}, -1, 1, 33)),
        weights(random_tensor({B, H, T, K}, 0, 1, 34)),
        pass{settings,
             Mode::evaluate(),
             Variable(distance_sinusoids(K, 0, D)),
             Variable(random_tensor({H, Dh}, -1, 1, 35)),
             Variable(random_tensor({H, Dh}, -1, 1, 36)),
             {T, M, 0, {0}}} {
    for_each_position(weights.shape(), [&](const Position& p) {
      if (M + p[2] < p[3]) weights.set_in_place({p[0], p[1], p[2], p[3]}, 0);
    });
  }
  Index T, M, K;
  Tensor q, k, values, weights;
  Config settings;
  Pass pass;
};

const std::vector<std::pair<Index, Index>> lengths = {{1, 0}, {1, 4}, {3, 0}, {3, 2}, {2, 5}};  // T, M

// What two vectors of a head have in common; `get` gives element c of either.
template <class X, class Y>
double product(const X& x, const Y& y) {
  double total = 0;
  for (Index c = 0; c < Dh; ++c) total += static_cast<double>(x(c)) * static_cast<double>(y(c));
  return total;
}

// Holds scores and reads against score(b, h, i, j, distance) and value(h, j's value c, distance, c).
template <class Score, class Value>
void check_scheme(const PositionScheme& scheme, const Inputs& in, const Score& score, const Value& value) {
  const Tensor scores = scheme.scores(Variable(in.q), Variable(in.k), in.pass).value();
  const Tensor read = scheme.read(Variable(in.weights), Variable(in.values), in.pass).value();
  REQUIRE(scores.shape() == Shape{B, H, in.T, in.K});
  REQUIRE(read.shape() == Shape{B, H, in.T, Dh});
  for_each_position({B, H, in.T}, [&](const Position& p) {
    const Index b = p[0], h = p[1], i = p[2];
    std::vector<double> sum(static_cast<std::size_t>(Dh), 0.0);
    for (Index j = 0; j <= in.M + i; ++j) {
      const Index distance = (in.M + i) - j;
      CHECK(std::abs(static_cast<double>(scores.at({b, h, i, j})) - score(b, h, i, j, distance)) < rounding);
      for (Index c = 0; c < Dh; ++c) {
        sum[static_cast<std::size_t>(c)] += static_cast<double>(in.weights.at({b, h, i, j})) *
                                            (static_cast<double>(in.values.at({b, h, j, c})) + value(h, distance, c));
      }
    }
    for (Index c = 0; c < Dh; ++c) {
      CHECK(std::abs(static_cast<double>(read.at({b, h, i, c})) - sum[static_cast<std::size_t>(c)]) < rounding);
    }
  });
}

double no_value(Index, Index, Index) { return 0; }

double content(const Inputs& in, Index b, Index h, Index i, Index j) {
  return product([&](Index c) { return in.q.at({b, h, i, c}); }, [&](Index c) { return in.k.at({b, h, j, c}); });
}

// Element c of head h of (sinusoids of a distance) times w [D, H Dh].
double projected(Index distance, const Variable& w, Index h, Index c) {
  const Tensor R = sinusoids({distance}, D);
  double total = 0;
  for (Index d = 0; d < D; ++d) {
    total += static_cast<double>(R.at({0, d})) * static_cast<double>(w.value().at({d, h * Dh + c}));
  }
  return total;
}

}  // namespace

TEST_CASE("Without positions a score is content against content, and a read is the weighted sum of values") {
  for (const auto& [T, M] : lengths) {
    const Inputs in(T, M);
    check_scheme(
        PositionScheme(), in, [&](Index b, Index h, Index i, Index j, Index) { return content(in, b, h, i, j); },
        no_value);
  }
}

TEST_CASE("Shaw: keys and values with the vector of their distance, clipped at the last row") {
  for (const Index rows : {1, 3, 9}) {
    for (const auto& [T, M] : lengths) {
      Random random(1);
      const Shaw shaw(tiny_config(), rows, random);
      const Inputs in(T, M);
      const auto row = [rows = rows](Index distance) { return std::min(distance, rows - 1); };
      check_scheme(
          shaw, in,
          [&](Index b, Index h, Index i, Index j, Index distance) {
            return product(
                [&](Index c) {
                  return in.q.at({b, h, i, c});
                },
                [&](Index c) {
                  return in.k.at({b, h, j, c}) + shaw.a_K.value().at({row(distance), c});
                });
          },
          [&](Index, Index distance, Index c) {
            return static_cast<double>(shaw.a_V.value().at({row(distance), c}));
          });
    }
  }
}

TEST_CASE("Learned relative: a key and a bias for each distance and head, the last of them for all beyond") {
  for (const Index rows : {1, 3, 9}) {
    for (const auto& [T, M] : lengths) {
      Random random(1);
      LearnedRelative scheme(tiny_config(), rows, random);
      scheme.u = Variable(random_tensor({H, 1, Dh}, -1, 1, 41));
      scheme.d = Variable(random_tensor({H, 1, rows}, -1, 1, 42));
      const Inputs in(T, M);
      check_scheme(
          scheme, in,
          [&](Index b, Index h, Index i, Index j, Index distance) {
            const Index row = std::min(distance, scheme.r.dim(1) - 1);
            const auto q = [&](Index c) { return in.q.at({b, h, i, c}); };
            const auto k = [&](Index c) { return in.k.at({b, h, j, c}); };
            return product(q, k) +
                   product(
                       [&](Index c) {
                         return scheme.u.value().at({h, 0, c});
                       },
                       k) +
                   product(q,
                           [&](Index c) {
                             return scheme.r.value().at({h, row, c});
                           }) +
                   static_cast<double>(scheme.d.value().at({h, 0, row}));
          },
          no_value);
    }
  }
}

TEST_CASE("Transformer-XL with any of its terms is the sum of those, and no other") {
  for (int bits = 0; bits < 32; ++bits) {
    const bool a = (bits & 1) != 0, b_ = (bits & 2) != 0, c_ = (bits & 4) != 0, d = (bits & 8) != 0,
               in_values = (bits & 16) != 0;
    CAPTURE(bits);
    const Encoding encoding = {Scheme::transformer_xl, 64, false, a, b_, c_, d, in_values};
    Random random(1);
    const FourTerms scheme(tiny_config(), encoding, random);
    const Inputs in(3, 2);
    check_scheme(
        scheme, in,
        [&](Index b, Index h, Index i, Index j, Index distance) {
          const auto q = [&](Index c) { return in.q.at({b, h, i, c}); };
          const auto k = [&](Index c) { return in.k.at({b, h, j, c}); };
          const auto r = [&](Index c) { return projected(distance, scheme.w_k_R, h, c); };
          const auto u = [&](Index c) { return in.pass.u.value().at({h, c}); };
          const auto v = [&](Index c) { return in.pass.v.value().at({h, c}); };
          return (a ? product(q, k) : 0) + (b_ ? product(q, r) : 0) + (c_ ? product(u, k) : 0) +
                 (d ? product(v, r) : 0);
        },
        [&](Index h, Index distance, Index c) { return in_values ? projected(distance, scheme.w_v_R, h, c) : 0; });
  }
}

TEST_CASE("Weights by distance put each weight where its distance stands, and 0 where there is no key") {
  for (const auto& length : lengths) {
    const Index M = length.second;
    const Inputs in(length.first, M);
    const Tensor z = weights_by_distance(Variable(in.weights)).value();
    REQUIRE(z.shape() == in.weights.shape());
    for_each_position(z.shape(), [&](const Position& p) {
      const Index distance = in.K - 1 - p[3], j = (M + p[2]) - distance;
      CHECK(z.at({p[0], p[1], p[2], p[3]}) == (j >= 0 ? in.weights.at({p[0], p[1], p[2], j}) : 0));
    });
  }
  CHECK(weights_by_distance(Variable(Tensor::zeros({2, 1, 0, 3}))).shape() == Shape{2, 1, 0, 3});
  check_gradients([](const std::vector<Variable>& x) { return weights_by_distance(x[0]); }, {{2, 1, 3, 5}});
  CHECK(holds(message_of<ShapeError>([] { weights_by_distance(Variable(Tensor::zeros({2, 1, 4, 3}))); }), "T <= K"));
  CHECK_THROWS_AS(weights_by_distance(Variable(Tensor::zeros({3, 4}))), ShapeError);
}

TEST_CASE("Distances run down to 0 and stop growing at the last row of the table") {
  CHECK(clipped_distances(5, 9).ids == std::vector<Index>{4, 3, 2, 1, 0});
  CHECK(clipped_distances(5, 3).ids == std::vector<Index>{2, 2, 2, 1, 0});
  CHECK(clipped_distances(3, 1).ids == std::vector<Index>{0, 0, 0});
  CHECK(clipped_distances(0, 3).ids.empty());
}

TEST_CASE("A clipped row collects the gradients of all distances that took it") {
  Random random(1);
  Shaw shaw(tiny_config(), 2, random);
  const Inputs in(1, 3);  // distances 3, 2, 1, 0 take the rows 1, 1, 1, 0
  backward(sum(shaw.read(Variable(in.weights), Variable(in.values), in.pass)));
  double far = 0, near = 0;
  for_each_position({B, H}, [&](const Position& p) {
    for (Index j = 0; j < 3; ++j) far += static_cast<double>(in.weights.at({p[0], p[1], 0, j}));
    near += static_cast<double>(in.weights.at({p[0], p[1], 0, 3}));
  });
  CHECK(std::abs(static_cast<double>(shaw.a_V.gradient().at({1, 0})) - far) < rounding);
  CHECK(std::abs(static_cast<double>(shaw.a_V.gradient().at({0, 0})) - near) < rounding);
}

TEST_CASE("Heads of another width than the tables' are errors") {
  Random random(1);
  const Inputs in(3, 2);
  Config wider = tiny_config();
  wider.head_width = 5;
  CHECK_THROWS_AS(Shaw(wider, 4, random).scores(Variable(in.q), Variable(in.k), in.pass), ShapeError);
  CHECK_THROWS_AS(Shaw(wider, 4, random).read(Variable(in.weights), Variable(in.values), in.pass), ShapeError);
  CHECK_THROWS_AS(LearnedRelative(wider, 4, random).scores(Variable(in.q), Variable(in.k), in.pass), ShapeError);
  Config more = tiny_config();
  more.heads = 3;
  CHECK_THROWS_AS(LearnedRelative(more, 4, random).scores(Variable(in.q), Variable(in.k), in.pass), ShapeError);
}

TEST_CASE("Positions restart in every segment, or run on from what each row has read") {
  Memory memory = random_memory(tiny_config(), 2, 4, 4);
  memory.tokens_read = {10, 0};
  CHECK(restarting_positions(memory, 3).ids == std::vector<Index>{0, 1, 2, 0, 1, 2});
  CHECK(running_positions(memory, 3).ids == std::vector<Index>{10, 11, 12, 0, 1, 2});
  CHECK(running_positions(memory, 0).shape == Shape{2, 0});
  const Tensor codes = sinusoid_codes(running_positions(memory, 3), 6).value();
  CHECK(codes.shape() == Shape{2, 3, 6});
  CHECK(same_bits(codes.narrow(0, 0, 1).narrow(1, 2, 1).reshape({1, 6}), sinusoids({12}, 6)));
}

TEST_CASE("Beyond the last row of a learned table lies an error, or that row again") {
  const Variable table(random_tensor({4, 6}));
  const Tokens inside({1, 2}, {0, 3}), beyond({1, 3}, {3, 4, 100});
  CHECK(same_bits(table_codes(table, inside, false).value(), table_codes(table, inside, true).value()));
  const std::string message = message_of<RangeError>([&] { table_codes(table, beyond, false); });
  CHECK(holds(message, "position 4 is beyond the table's rows 0 .. 3"));
  const Tensor codes = table_codes(table, beyond, true).value();
  for (const Index i : {0, 1, 2}) {
    CHECK(same_bits(codes.narrow(1, i, 1).reshape({6}), table.value().narrow(0, 3, 1).reshape({6})));
  }
}

}  // namespace segue::xl_schemes_test
