#include "xl/tools/evaluation.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "tests/support/tiny_models.hpp"
#include "xl/tasks/periodic_copy.hpp"
#include "xl/training.hpp"

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

TEST_CASE("A sliding window is one fresh pass for each token, as a plain loop does it") {
  for (const Config& config : all_variants()) {
    const TransformerXL model = random_model(config);
    const std::vector<Index> text = random_text(13);
    for (const Index window : {1, 3, 12, 20}) {
      double total = 0;
      for (Index t = 1; t < 13; ++t) {
        const Index begin = std::max<Index>(t - window, 0);
        const Tokens inputs({1, t - begin}, {text.begin() + begin, text.begin() + t});
        const Tensor logits = logits_in_pieces(model, inputs, {t - begin}, window);
        const Variable last(logits.narrow(1, t - begin - 1, 1));
        const Tokens target({1, 1}, {text[static_cast<std::size_t>(t)]});
        total += static_cast<double>(cross_entropy(last, target).value().item());
      }
      for (const Index batch : {1, 5, 32}) {
        const Evaluation sliding = evaluate_sliding(model, text, window, batch);
        CHECK(near(sliding.nats, total / 12));
        CHECK(sliding.count == 12);
      }
    }
  }
}

TEST_CASE("A window over the whole text is a memory over the whole text; a window of one layer is a memory too") {
  const std::vector<Index> text = random_text(17);
  for (const Config& config : all_variants()) {
    const TransformerXL model = random_model(config);
    CHECK(near(evaluate_sliding(model, text, 16).nats, evaluate(model, text, 4, 16).nats));
  }
  Config config = tiny_config();
  config.layers = 1;  // sees no further than its memory: token by token, the current one and M more
  CHECK(near(evaluate_sliding(random_model(config), text, 6).nats, evaluate(random_model(config), text, 1, 5).nats));
  config.layers = 2;  // sees further
  CHECK_FALSE(
      near(evaluate_sliding(random_model(config), text, 6).nats, evaluate(random_model(config), text, 1, 5).nats));
}

TEST_CASE("What is within reach is predicted, by a memory and by a window alike") {
  const Config config = learner_config();
  Random random(1);
  TransformerXL model(config, random);
  Adam optimizer(parameters(model));
  TrainingState state = {0, empty_memory(config, 8, 5), Random(1)};
  PeriodicCopy task(6, 4, 8, 4, 6, random);
  TrainingOptions options;
  options.steps = 300;
  options.clip = 1;
  options.learning_rate = [](Index step) { return step < 20 ? Real(0.0005) * static_cast<Real>(step) : Real(0.01); };
  train(
      model, optimizer, state, [&] { return task.next(); }, options);

  std::vector<Index> text = {3, 1, 0, 2, 2, 1};  // the next token stands five places back
  for (std::size_t t = 6; t < 240; ++t) text.push_back(text[t - 6]);
  CHECK(evaluate(model, text, 4, 0).nats > 1);
  CHECK(evaluate_sliding(model, text, 4).nats > 1);
  CHECK(evaluate(model, text, 4, 5).nats < 0.4);
  CHECK(evaluate_sliding(model, text, 6).nats < 0.4);
}

TEST_CASE("Sliding over a short or wrong text, and windows without sense, are errors") {
  const TransformerXL model = random_model(tiny_config());
  for (const Index size : {0, 1}) CHECK_THROWS_AS(evaluate_sliding(model, random_text(size), 4), ValueError);
  for (const Index wrong : {Index(7), Index(-1), ignored_target}) {
    for (const std::vector<Index>& text : {std::vector<Index>{0, wrong, 1}, {0, 1, wrong}, {0, 1, 2, 3, 4, wrong}}) {
      CHECK_THROWS_AS(evaluate_sliding(model, text, 2), RangeError);
    }
  }
  CHECK_THROWS_AS(evaluate_sliding(model, random_text(9), 0), ValueError);
  CHECK_THROWS_AS(evaluate_sliding(model, random_text(9), 4, 0), ValueError);
  constexpr Index huge = std::numeric_limits<Index>::max();
  CHECK(evaluate_sliding(model, random_text(9), huge, huge).count == 8);
  CHECK(evaluate_sliding(model, random_text(9), 1, huge).count == 8);
}

TEST_CASE("The report hears of every step up to the last token, and can end the evaluation there") {
  const TransformerXL model = random_model(tiny_config());
  const std::vector<Index> text = random_text(12);
  std::vector<Index> heard;
  const auto hear = [&](Index done, Index total) {
    CHECK(total == 11);
    heard.push_back(done);
    return true;
  };
  evaluate(model, text, 4, 4, 1, hear);
  CHECK(heard == std::vector<Index>{4, 8, 11});
  heard.clear();
  evaluate_sliding(model, text, 3, 4, hear);
  CHECK(heard == std::vector<Index>{3, 7, 11});

  const auto stop = [](Index done, Index) { return done < 5; };
  const std::vector<Index> beginning(text.begin(), text.begin() + 9);
  CHECK(near(evaluate(model, text, 4, 4, 1, stop).nats, evaluate(model, beginning, 4, 4).nats));
  CHECK(evaluate_sliding(model, text, 3, 5, stop).count == 8);
  CHECK(near(evaluate_sliding(model, text, 3, 5, stop).nats, evaluate_sliding(model, beginning, 3).nats));
}

TEST_CASE("Bits are shared out over bytes and characters") {
  const Evaluation words = {3 * std::log(2.0), 10};  // ten words of three bits each
  CHECK(words.bits_per(10) == doctest::Approx(3));
  CHECK(words.bits_per(60) == doctest::Approx(0.5));
  CHECK(std::isnan(words.bits_per(0)));
  CHECK(count_characters("") == 0);
  CHECK(count_characters("abc\n") == 4);
  CHECK(count_characters("a\u00e4\u20ac\U0001F600") == 4);  // of 1, 2, 3 and 4 bytes
}

}  // namespace segue::xl_evaluation_test
