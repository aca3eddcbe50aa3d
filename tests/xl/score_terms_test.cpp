#include "xl/tools/score_terms.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

#include "tensor/softmax.hpp"
#include "tests/support/tiny_models.hpp"
#include "xl/sinusoids.hpp"
#include "xl/tools/attention_map.hpp"

namespace segue::xl_score_terms_test {

namespace {

// h [B, L, D] times a matrix [D, H Dh]: number c of one head at one row.
double projected(const Tensor& h, Index b, Index row, const Variable& w, Index column) {
  double sum = 0;
  for (Index d = 0; d < h.dim(-1); ++d)
    sum += static_cast<double>(h.at({b, row, d})) * static_cast<double>(w.value().at({d, column}));
  return sum;
}

// The four terms of one score, each a sum over Dh products, straight from the paper's formula.
std::array<double, 4> terms_by_hand(const TransformerXL& model, const Tensor& h, const Tensor& context, Index b,
                                    Index head, Index i, Index j) {
  const RelativeAttention& attention = model.layers[0].attention;
  const Index M = context.dim(1) - h.dim(1), Dh = model.config.head_width;
  const Tensor R = sinusoids({(M + i) - j}, h.dim(2)).reshape({1, 1, h.dim(2)});
  std::array<double, 4> terms = {0, 0, 0, 0};
  for (Index c = 0; c < Dh; ++c) {
    const double q = projected(h, b, i, attention.w_q, head * Dh + c);
    const double k = projected(context, b, j, attention.w_k_E, head * Dh + c);
    const double r = projected(R, 0, 0, attention.w_k_R, head * Dh + c);
    const double u = static_cast<double>(model.u.value().at({head, c}));
    const double v = static_cast<double>(model.v.value().at({head, c}));
    terms[0] += q * k, terms[1] += q * r, terms[2] += u * k, terms[3] += v * r;
  }
  for (double& term : terms) term /= std::sqrt(static_cast<double>(Dh));
  return terms;
}

}  // namespace

TEST_CASE("Each term is what the paper's formula gives, one score at a time") {
  const TransformerXL model = random_model(tiny_config());
  const Tokens tokens = random_tokens(2, 3, 7);
  const Memory memory = random_memory(model.config, 2, 4, 4);
  Memory roomy = memory;
  roomy.limit = 100;  // what comes back for layer 0 is [m ; h], all that it reads
  const Tensor context = model(tokens, roomy, Mode::evaluate()).memory.layers[0].value();
  const ScoreTerms terms = score_terms(model, tokens, memory)[0];
  for (Index b = 0; b < 2; ++b) {
    for (Index head = 0; head < model.config.heads; ++head) {
      for (Index i = 0; i < 3; ++i) {
        for (Index j = 0; j <= 4 + i; ++j) {
          const auto wanted = terms_by_hand(model, context.narrow(1, 4, 3), context, b, head, i, j);
          CHECK(static_cast<double>(terms.a.at({b, head, i, j})) == doctest::Approx(wanted[0]));
          CHECK(static_cast<double>(terms.b.at({b, head, i, j})) == doctest::Approx(wanted[1]));
          CHECK(static_cast<double>(terms.c.at({b, head, i, j})) == doctest::Approx(wanted[2]));
          CHECK(static_cast<double>(terms.d.at({b, head, i, j})) == doctest::Approx(wanted[3]));
        }
      }
    }
  }
}

TEST_CASE("In every layer and variant the softmax of their sum is the attention map") {
  for (const Config& config : all_variants()) {
    for (const Index M : {0, 3, 5}) {
      CAPTURE(to_string(config));
      CAPTURE(M);
      const TransformerXL model = random_model(config);
      const Tokens tokens = random_tokens(2, 4, 7);
      Memory memory = random_memory(config, 2, M, 5);
      if (M == 5) memory = reset_rows(memory, {1});
      const Tensor hidden = attention_mask(visible_keys(4, memory, config.same_length ? memory.limit : 0));
      const std::vector<Tensor> maps = attention_maps(model, tokens, memory);
      const std::vector<ScoreTerms> all = score_terms(model, tokens, memory);
      REQUIRE(all.size() == maps.size());
      for (std::size_t n = 0; n < maps.size(); ++n) {
        REQUIRE(all[n].d.shape() == maps[n].shape());
        const Tensor sum = add(add(all[n].a, all[n].b), add(all[n].c, all[n].d));
        check_close(softmax(masked_fill(sum, hidden, -std::numeric_limits<Real>::infinity())), maps[n], rounding);
      }
    }
  }
}

TEST_CASE("In layer 0 the content of a token scores the same at every distance, to the last bit") {
  const TransformerXL model = random_model(tiny_config());
  const Tokens tokens(Shape{1, 6}, {3, 1, 3, 5, 3, 2});
  const ScoreTerms terms = score_terms(model, tokens, empty_memory(model.config, 1, 5))[0];
  for (Index head = 0; head < model.config.heads; ++head) {
    for (const Index j : {2, 4}) {
      CHECK(terms.a.at({0, head, 5, j}) == terms.a.at({0, head, 5, 0}));
      CHECK(terms.c.at({0, head, 5, j}) == terms.c.at({0, head, 5, 0}));
      CHECK(terms.b.at({0, head, 5, j}) != terms.b.at({0, head, 5, 0}));
    }
  }
}

TEST_CASE("Tokens that do not fit are the model's errors") {
  const TransformerXL model = random_model(tiny_config());
  CHECK_THROWS_AS(score_terms(model, Tokens({1, 1}, {7}), empty_memory(model.config, 1, 5)), RangeError);
  CHECK_THROWS_AS(score_terms(model, Tokens({2, 1}, {0, 1}), empty_memory(model.config, 1, 5)), ShapeError);
}

}  // namespace segue::xl_score_terms_test
