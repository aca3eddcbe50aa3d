#include "xl/tools/effective_context.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "tests/support/tiny_models.hpp"
#include "xl/tools/memory_view.hpp"

namespace segue::xl_effective_context_test {

namespace {

std::vector<Index> random_text(Index size) { return random_tokens(1, size, 7, 8).ids; }

// The loss of text[t] from logits [1, L, V], at the last of them.
double last_loss(const Tensor& logits, Index target) {
  const Index L = logits.shape()[1];
  const Tensor last = logits.narrow(1, L - 1, 1);
  return static_cast<double>(cross_entropy(Variable(last), Tokens({1, 1}, {target})).value().to_vector()[0]);
}

// A model that has the loss `start` less `slope` for each token of context, as far as `reach` of them.
std::vector<std::vector<double>> falling_losses(const std::vector<Index>& contexts, Index reach, double start,
                                                double slope) {
  std::vector<std::vector<double>> rows;
  for (const Index c : contexts) {
    rows.emplace_back();
    for (int t = 0; t < 10; ++t) rows.back().push_back(start + 0.1 * t - slope * double(std::min(c, reach)));
  }
  return rows;
}

}  // namespace

TEST_CASE("context_losses reads the c tokens before each target and nothing else") {
  const TransformerXL model = random_model(tiny_config());  // T = 4
  const std::vector<Index> text = random_text(20);
  const std::vector<Index> targets = {10, 19, 11};
  const std::vector<std::pair<Index, std::vector<Index>>> cuts = {
      {1, {1}}, {3, {3}}, {4, {4}}, {6, {2, 4}}, {9, {1, 4, 4}}};
  for (const auto& [c, lengths] : cuts) {
    const std::vector<double> losses = context_losses(model, text, targets, c, 5, 2);
    REQUIRE(losses.size() == targets.size());
    for (std::size_t k = 0; k < targets.size(); ++k) {
      const auto target = text.begin() + targets[k];
      const Tensor logits = logits_in_pieces(model, Tokens({1, c}, {target - c, target}), lengths, 5);
      CHECK(std::abs(losses[k] - last_loss(logits, *target)) < rounding);
    }
  }
}

TEST_CASE("With the whole text before it, a target has the loss of one long pass") {
  const TransformerXL model = random_model(tiny_config());
  const std::vector<Index> text = random_text(15);
  const Tensor logits = logits_in_pieces(model, Tokens({1, 15}, text), {15}, 15);
  for (const Index t : {1, 4, 9, 14}) {
    const double expected = last_loss(logits.narrow(1, 0, t), text[static_cast<std::size_t>(t)]);
    CHECK(std::abs(context_losses(model, text, {t}, t, 15)[0] - expected) < rounding);
  }
}

TEST_CASE("Context behind N M + T tokens changes no bit, the last within does") {
  for (const Index M : {0, 4, 8}) {
    const TransformerXL model = random_model(tiny_config());
    const Index reach = tokens_in_reach(model.config, 4, M, 3).back();
    REQUIRE(reach == 2 * M + 4);
    const std::vector<Index> text = random_text(40), targets = {30, 35, 39};
    const std::vector<double> full = context_losses(model, text, targets, reach, M);
    for (const Index more : {1, 2, 5, 8}) CHECK(context_losses(model, text, targets, reach + more, M) == full);
    const std::vector<double> less = context_losses(model, text, targets, reach - 1, M);
    for (std::size_t k = 0; k < targets.size(); ++k) CHECK(less[k] != full[k]);
  }
}

TEST_CASE("context_losses tells how many are done and stops when told to") {
  const TransformerXL model = random_model(tiny_config());
  const std::vector<Index> text = random_text(12), targets = {5, 6, 7, 8, 9};
  std::vector<Index> heard;
  const auto losses = context_losses(model, text, targets, 3, 4, 2, [&](Index done) {
    heard.push_back(done);
    return done < 4;
  });
  CHECK(heard == std::vector<Index>{2, 4});
  CHECK(losses.size() == 4);
}

TEST_CASE("context_losses says what is wrong") {
  const TransformerXL model = random_model(tiny_config());
  const std::vector<Index> text = random_text(12);
  CHECK_THROWS_AS(context_losses(model, text, {5}, 0, 4), ValueError);
  CHECK_THROWS_AS(context_losses(model, text, {5}, 3, 4, 0), ValueError);
  CHECK_THROWS_AS(context_losses(model, text, {2}, 3, 4), ValueError);
  CHECK_THROWS_AS(context_losses(model, text, {12}, 3, 4), ValueError);
  CHECK_THROWS_AS(context_losses(model, {0, 1, 7}, {2}, 2, 4), RangeError);
  CHECK_THROWS_WITH_AS(context_losses(model, text, {2}, 3, 4),
                       doctest::Contains("target 2 of a text of 12 tokens, with 3 before it"), ValueError);
}

TEST_CASE("hardest takes the largest, as many as r asks for") {
  const std::vector<double> values = {1, 5, 3, 5, 0};
  CHECK(hardest(values, 1.0) == std::vector<std::size_t>{1, 3, 2, 0, 4});
  CHECK(hardest(values, 0.4) == std::vector<std::size_t>{1, 3});
  CHECK(hardest(values, 0.41) == std::vector<std::size_t>{1, 3, 2});
  CHECK(hardest(values, 0.01) == std::vector<std::size_t>{1});
  CHECK(hardest(std::vector<double>(30, 1.0), 0.1).size() == 3);  // though 0.1 * 30 is above 3 in doubles
  for (const double r : {0.0, -0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(hardest(values, r), ValueError);
  }
}

TEST_CASE("The relative gain of a table small enough to do by hand") {
  const ContextTable table = {{10, 20}, {{{1, 2, 3, 4}, {1, 1, 3, 2}}, {{2, 1, 4, 4}, {0, 0, 5, 4}}}};
  CHECK(table.baseline(0) == std::vector<double>{1, 1, 3, 4});
  // The harder half are targets 3 and 2, f(c, c) = 3.5. Model 0 has 2 and 3 there, model 1 no less than before.
  CHECK(relative_gain(table, 0, 0, 1, 0.5) == doctest::Approx(1 - std::exp(-1.0)).epsilon(1e-12));
  CHECK(relative_gain(table, 1, 0, 1, 0.5) == 0);
  // Over all targets f(c, c) = 9 / 4, and f(c, c') is 7 / 4 for both: a loss above the baseline counts as the baseline.
  CHECK(relative_gain(table, 0, 0, 1, 1) == doctest::Approx(1 - std::exp(-0.5)).epsilon(1e-12));
  CHECK(relative_gain(table, 1, 0, 1, 1) == doctest::Approx(1 - std::exp(-0.5)).epsilon(1e-12));
  CHECK(relative_gain(table, 0, 1, 1, 0.5) == 0);  // f_i(c, c) is the baseline of every model
  CHECK(relative_gain(table, 1, 0, 0, 1) == 0);
}

TEST_CASE("A model whose loss does not change beyond c has an effective context of c") {
  const std::vector<Index> contexts = {4, 8, 12, 16, 20, 24};
  ContextTable table = {contexts, {}};
  const std::vector<Index> reaches = {4, 8, 16, 20, 24};
  for (const Index reach : reaches) table.losses.push_back(falling_losses(contexts, reach, 3, 0.05));
  for (std::size_t i = 0; i < reaches.size(); ++i) {
    for (const double r : {0.1, 0.5, 1.0}) CHECK(effective_context(table, i, r) == reaches[i]);
  }
  CHECK(effective_context(table, 4, 1, 0.5) == 4);  // four tokens give exp(0.2): a gain of 0.18
  CHECK(effective_context(table, 4, 1, 0.18) == 24);
}

TEST_CASE("A model that knows little from near tokens gains no length in a group that knows more") {
  const std::vector<Index> contexts = {4, 8, 12};
  const auto good = falling_losses(contexts, 8, 1, 0.05), bad = falling_losses(contexts, 12, 3, 0.05);
  CHECK(effective_context({contexts, {bad}}, 0, 1) == 12);
  CHECK(effective_context({contexts, {good, bad}}, 0, 1) == 8);
  CHECK(effective_context({contexts, {good, bad}}, 1, 1) == 4);
}

TEST_CASE("Gains and lengths are those of a calculation in Python") {
  ContextTable table = {{5, 10, 15, 20, 25, 30}, {}};
  for (int i = 0; i < 3; ++i) {
    table.losses.emplace_back();
    for (int k = 0; k < 6; ++k) {
      table.losses.back().emplace_back();
      for (int t = 0; t < 40; ++t) {
        table.losses.back().back().push_back((3 + std::sin(7.0 * t + i)) *
                                             std::exp(-0.05 * (i + 1) * std::min(k, 2 + i)) *
                                             (0.6 + 0.04 * ((t * t) % 11)));
      }
    }
  }
  CHECK(relative_gain(table, 0, 0, 1, 0.1) == doctest::Approx(0.062392694278).epsilon(1e-9));
  CHECK(relative_gain(table, 2, 3, 4, 0.1) == doctest::Approx(0.142868114233).epsilon(1e-9));
  CHECK(relative_gain(table, 1, 2, 3, 0.5) == doctest::Approx(0.013493164002).epsilon(1e-9));
  CHECK(relative_gain(table, 1, 0, 1, 1.0) == doctest::Approx(0.023581425215).epsilon(1e-9));
  const std::vector<std::vector<Index>> lengths = {{15, 5, 25}, {15, 5, 25}, {15, 20, 25}};  // for r = 0.1, 0.5, 1
  const std::vector<double> shares = {0.1, 0.5, 1.0};
  for (std::size_t s = 0; s < shares.size(); ++s) {
    for (std::size_t i = 0; i < 3; ++i) CHECK(effective_context(table, i, shares[s]) == lengths[s][i]);
  }
}

TEST_CASE("A table with holes is refused") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(effective_context({{}, {}}, 0, 1), ValueError);
  CHECK_THROWS_AS(effective_context({{4}, {{{}}}}, 0, 1), ValueError);
  CHECK_THROWS_AS(effective_context({{4, 4}, {{{1}, {1}}}}, 0, 1), ValueError);
  CHECK_THROWS_AS(effective_context({{4, 8}, {{{1}}}}, 0, 1), ValueError);
  CHECK_THROWS_AS(effective_context({{4, 8}, {{{1}, {1, 2}}}}, 0, 1), ValueError);
  CHECK_THROWS_AS(effective_context({{4, 8}, {{{1}, {nan}}}}, 0, 1), ValueError);
  CHECK_THROWS_AS(effective_context({{4}, {{{1}}}}, 1, 1), RangeError);
  CHECK_THROWS_AS(effective_context({{4}, {{{1}}}}, 0, 0), ValueError);
  CHECK_THROWS_AS(relative_gain({{4, 8}, {{{1}, {1}}}}, 0, 1, 0, 1), RangeError);
  CHECK_THROWS_AS(relative_gain({{4, 8}, {{{1}, {1}}}}, 0, 0, 2, 1), RangeError);
  CHECK(effective_context({{4}, {{{1}}}}, 0, 1) == 4);
}

}  // namespace segue::xl_effective_context_test
