#include "xl/tools/evaluation.hpp"

#include <doctest/doctest.h>

#include "tests/support/tiny_models.hpp"

namespace segue::xl_evaluation_test {

namespace {

std::vector<Index> random_text(Index size, std::uint64_t seed = 8) { return random_tokens(1, size, 7, seed).ids; }

bool near(double x, double y) { return std::abs(x - y) < 10 * rounding; }

}  // namespace

TEST_CASE("Evaluation is the mean cross-entropy of one pass over the text") {
  const TransformerXL model = random_model(tiny_config());
  const std::vector<Index> text = random_text(12);
  const Tensor logits = logits_in_pieces(model, Tokens({1, 11}, {text.begin(), text.end() - 1}), {11}, 11);
  double total = 0;
  for (Index t = 0; t < 11; ++t) {
    double sum_exp = 0;
    for (Index k = 0; k < 7; ++k) sum_exp += std::exp(static_cast<double>(logits.at({0, t, k})));
    total += std::log(sum_exp) - static_cast<double>(logits.at({0, t, text[static_cast<std::size_t>(t + 1)]}));
  }
  const Evaluation evaluation = evaluate(model, text, 4, 11);
  CHECK(near(evaluation.nats, total / 11));
  CHECK(evaluation.count == 11);
  CHECK(evaluation.perplexity() == doctest::Approx(std::exp(total / 11)).epsilon(1e-4));
  CHECK(evaluation.bits() == doctest::Approx(total / 11 / std::log(2.0)).epsilon(1e-4));
}

TEST_CASE("The segment length changes nothing under a covering memory, and does without one") {
  for (const Config& config : all_variants()) {
    const TransformerXL model = random_model(config);
    const std::vector<Index> text = random_text(21);
    const double whole = evaluate(model, text, 8, 20).nats;
    for (const Index T : {1, 2, 4, 20}) CHECK(near(evaluate(model, text, T, 20).nats, whole));
    if (config.same_length) continue;
    for (const Index T : {1, 2, 4})
      CHECK_FALSE(near(evaluate(model, text, T, 0).nats, evaluate(model, text, 8, 0).nats));
  }
}

TEST_CASE("The memory length asked for is the one used, whatever the training had") {
  Config config = tiny_config();
  const std::vector<Index> text = random_text(16);
  const double four = evaluate(random_model(config), text, 2, 4).nats;
  config.segment_length = 8;
  config.memory_length = 11;
  CHECK(evaluate(random_model(config), text, 2, 4).nats == four);
  CHECK_FALSE(near(evaluate(random_model(config), text, 2, 10).nats, four));
}

TEST_CASE("Every token but the first is predicted exactly once, for any size, batch and segment") {
  Config config = tiny_config();
  config.layers = 1;
  const TransformerXL model = random_model(config);
  for (const Index size : {2, 3, 7, 16, 17}) {
    for (const Index batch : {1, 2, 5}) {
      for (const Index T : {1, 4, 30}) CHECK(evaluate(model, random_text(size), T, 4, batch).count == size - 1);
    }
  }
}

TEST_CASE("Several stretches give the mean of their targets, each stretch as if alone") {
  const TransformerXL model = random_model(tiny_config());
  const std::vector<Index> text = random_text(12);  // 11 targets in stretches of 4, 4 and 3
  double total = 0;
  for (const Index start : {0, 4, 8}) {
    const std::vector<Index> stretch(text.begin() + start, text.begin() + std::min<Index>(start + 5, 12));
    const Evaluation alone = evaluate(model, stretch, 3, 3);
    total += alone.nats * static_cast<double>(alone.count);
  }
  CHECK(near(evaluate(model, text, 3, 3, 3).nats, total / 11));
}

TEST_CASE("Dropout plays no part in evaluation and no graph is built") {
  Config config = tiny_config();
  const double without = evaluate(random_model(config), random_text(9), 4, 4).nats;
  config.dropout = config.attention_dropout = Real(0.5);
  const TransformerXL model = random_model(config);
  const std::int64_t before = live_node_count();
  CHECK(evaluate(model, random_text(9), 4, 4).nats == without);
  CHECK(live_node_count() == before);
}

TEST_CASE("A text with nothing to predict, a token outside the vocabulary and lengths without sense are errors") {
  const TransformerXL model = random_model(tiny_config());
  for (const Index size : {0, 1}) CHECK_THROWS_AS(evaluate(model, random_text(size), 4, 4), ValueError);
  for (const Index wrong : {Index(7), Index(-1), ignored_target}) {
    CHECK_THROWS_AS(evaluate(model, {0, wrong, 1}, 4, 4), RangeError);
    CHECK_THROWS_AS(evaluate(model, {0, 1, wrong}, 4, 4), RangeError);
  }
  CHECK_THROWS_AS(evaluate(model, random_text(9), 0, 4), ValueError);
  CHECK_THROWS_AS(evaluate(model, random_text(9), 4, -1), ValueError);
  CHECK_THROWS_AS(evaluate(model, random_text(9), 4, 4, 0), ValueError);
}

}  // namespace segue::xl_evaluation_test
