#include "xl/tools/attention_map.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/matmul.hpp"
#include "tensor/reduce.hpp"
#include "tests/support/tiny_models.hpp"
#include "xl/sinusoids.hpp"
#include "xl/tools/recomputation.hpp"

namespace segue::xl_attention_map_test {

namespace {

// Logits of a model that does not ask its attention where to look: it reads the values by weights given to it.
Tensor logits_by_map(const TransformerXL& model, const Tokens& tokens, const Memory& memory,
                     const std::vector<Tensor>& maps) {
  const auto read = [&](std::size_t n, const Layer& layer, const Variable& h, const Variable& m, const Pass& pass) {
    const Variable rows = concat({m, h}, 1);
    const Variable read_from = pass.config.pre_norm ? layer.attention_norm(rows) : rows;
    const Variable values = split_heads(matmul(read_from, layer.attention.w_v), pass.config.heads);
    const Variable out = matmul(join_heads(matmul(Variable(maps[n]), values)), layer.attention.w_o);
    if (pass.config.pre_norm) {
      const Variable a = h + out;
      return a + layer.feed_forward(layer.feed_forward_norm(a), 0, pass.mode);
    }
    const Variable a = layer.attention_norm(h + out);
    return layer.feed_forward_norm(a + layer.feed_forward(a, 0, pass.mode));
  };
  const States states = model.states(tokens, memory, Mode::evaluate(), read);
  return model.logits(states.h, Mode::evaluate()).value();
}

// The softmax over the visible keys of the paper's four terms, one score at a time, for layer 0 of a post-norm model.
double weight_by_terms(const TransformerXL& model, const Tensor& h, const Tensor& context, Index b, Index head, Index i,
                       Index key) {
  const RelativeAttention& attention = model.layers[0].attention;
  const Index D = h.dim(2), M = context.dim(1) - h.dim(1), Dh = model.config.head_width;
  double total = 0, wanted = 0;
  for (Index j = 0; j <= M + i; ++j) {
    const Tensor R = sinusoids({(M + i) - j}, D);
    double score = 0;
    for (Index c = 0; c < Dh; ++c) {
      double q = 0, k = 0, r = 0;
      for (Index d = 0; d < D; ++d) {
        q += static_cast<double>(h.at({b, i, d}) * attention.w_q.value().at({d, head * Dh + c}));
        k += static_cast<double>(context.at({b, j, d}) * attention.w_k_E.value().at({d, head * Dh + c}));
        r += static_cast<double>(R.at({0, d}) * attention.w_k_R.value().at({d, head * Dh + c}));
      }
      const double u = static_cast<double>(model.u.value().at({head, c}));
      const double v = static_cast<double>(model.v.value().at({head, c}));
      score += q * k + q * r + u * k + v * r;
    }
    const double weight = std::exp(score / std::sqrt(static_cast<double>(Dh)));
    total += weight;
    if (j == key) wanted = weight;
  }
  return wanted / total;
}

}  // namespace

TEST_CASE("A model that reads by its attention maps gives the logits that it gives by its attention") {
  for (const Config& config : all_variants()) {
    for (const Index M : {0, 3, 5}) {
      CAPTURE(to_string(config));
      CAPTURE(M);
      const TransformerXL model = random_model(config);
      const Tokens tokens = random_tokens(2, 4, 7);
      Memory memory = random_memory(config, 2, M, 5);
      if (M == 5) memory = reset_rows(memory, {1});
      const std::vector<Tensor> maps = attention_maps(model, tokens, memory);
      REQUIRE(maps.size() == 2);
      const NoGradientGuard no_gradient;
      const Tensor logits = model(tokens, memory, Mode::evaluate()).logits.value();
      check_close(logits_by_map(model, tokens, memory, maps), logits, rounding);
    }
  }
}

TEST_CASE("Every row of a map sums to 1, and hidden keys have exactly 0") {
  for (const Config& config : all_variants()) {
    CAPTURE(to_string(config));
    const Index T = 4, M = 5, H = config.heads;
    const Memory memory = reset_rows(random_memory(config, 2, M, M), {1});
    const Tensor hidden = attention_mask(visible_keys(T, memory, config.same_length ? M : 0));  // [B, 1, T, K]
    for (const Tensor& map : attention_maps(random_model(config), random_tokens(2, T, 7), memory)) {
      REQUIRE(map.shape() == Shape{2, H, T, M + T});
      check_close(sum(map, Axes{3}), Tensor::full({2, H, T}, 1), rounding);
      bool as_masked = true;
      for (Index b = 0; b < 2; ++b) {
        for (Index head = 0; head < H; ++head) {
          for (Index i = 0; i < T; ++i) {
            for (Index j = 0; j < M + T; ++j) {
              as_masked = as_masked && (map.at({b, head, i, j}) == 0) == (hidden.at({b, 0, i, j}) != 0);
            }
          }
        }
      }
      CHECK(as_masked);
    }
  }
}

TEST_CASE("A weight is the softmax of the four terms, taken one score at a time") {
  const Config config = tiny_config();
  const TransformerXL model = random_model(config);
  const Tokens tokens = random_tokens(2, 3, 7);
  const Memory memory = random_memory(config, 2, 4, 4);
  Memory roomy = memory;
  roomy.limit = 100;  // what comes back for layer 0 is [m ; h], all that it reads
  const Tensor context = model(tokens, roomy, Mode::evaluate()).memory.layers[0].value();
  const Tensor map = attention_maps(model, tokens, memory)[0];
  for (Index b = 0; b < 2; ++b) {
    for (Index head = 0; head < 2; ++head) {
      for (Index i = 0; i < 3; ++i) {
        for (Index j = 0; j <= 4 + i; ++j) {
          const double expected = weight_by_terms(model, context.narrow(1, 4, 3), context, b, head, i, j);
          CHECK(std::abs(static_cast<double>(map.at({b, head, i, j})) - expected) <= rounding);
        }
      }
    }
  }
}

TEST_CASE("A recomputing model has the maps of a plain one, and looking at them changes nothing") {
  TransformerXL model = random_model(tiny_config());
  const Tokens tokens = random_tokens(2, 4, 7);
  const Memory memory = random_memory(tiny_config(), 2, 5, 5);
  const Tensor before = model(tokens, memory, Mode::evaluate()).logits.value();
  const std::vector<Tensor> maps = attention_maps(model, tokens, memory);
  model.run_layer = recompute_layer;
  CHECK(same_bits(maps, attention_maps(model, tokens, memory)));
  CHECK(same_bits(before, model(tokens, memory, Mode::evaluate()).logits.value()));
}

TEST_CASE("The map of a head is the mean over the rows, and its weight at a distance the mean along a diagonal") {
  Tensor map = Tensor::zeros({2, 2, 2, 4});  // M = 2
  map.set_in_place({0, 1, 0, 0}, 1);         // distance 2
  map.set_in_place({1, 1, 0, 0}, Real(0.5));
  map.set_in_place({0, 1, 1, 1}, Real(0.25));
  map.set_in_place({0, 0, 1, 0}, Real(0.4));  // distance 3, which query 0 has not
  const Tensor head = head_map(map, 1);
  check_close(head, Tensor({2, 4}, {Real(0.75), 0, 0, 0, 0, Real(0.125), 0, 0}));
  CHECK(weight_at_distance(head, 2) == doctest::Approx((0.75 + 0.125) / 2));
  CHECK(weight_at_distance(head_map(map, 0), 3) == doctest::Approx(0.2));
  CHECK(weight_at_distance(head, 4) == 0);

  const HeadAtDistance best = strongest_head({Tensor::zeros({1, 3, 2, 4}), map}, 2);
  CHECK(best.layer == 1);
  CHECK(best.head == 1);
  CHECK(best.weight == doctest::Approx((0.75 + 0.125) / 2));
  CHECK(strongest_head({}, 2).weight < 0);
}

TEST_CASE("Maps, heads and distances that do not exist are errors") {
  const Tensor map = Tensor::zeros({1, 2, 3, 5});
  CHECK(thrown_by<RangeError>([&] { head_map(map, 2); }).find("head 2 of 2") != std::string::npos);
  CHECK_THROWS_AS(head_map(map, -1), RangeError);
  CHECK_THROWS_AS(head_map(Tensor::zeros({3, 5}), 0), ShapeError);
  CHECK_THROWS_AS(head_map(Tensor::zeros({0, 2, 3, 5}), 0), ShapeError);
  CHECK_THROWS_AS(weight_at_distance(Tensor::zeros({5, 3}), 0), ShapeError);
  CHECK_THROWS_AS(weight_at_distance(Tensor::zeros({3, 5}), -1), ValueError);
  const TransformerXL model = random_model(tiny_config());
  CHECK_THROWS_AS(attention_maps(model, random_tokens(3, 4, 7), empty_memory(tiny_config(), 2, 5)), ShapeError);
  CHECK_THROWS_AS(attention_maps(model, Tokens({2, 1}, {0, 7}), empty_memory(tiny_config(), 2, 5)), RangeError);
}

}  // namespace segue::xl_attention_map_test
