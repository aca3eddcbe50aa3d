#include "xl/tools/generation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/tiny_models.hpp"

namespace segue::xl_generation_test {

namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();
constexpr Real nan_value = std::numeric_limits<Real>::quiet_NaN();

Tensor row(const std::vector<Real>& logits) { return Tensor({static_cast<Index>(logits.size())}, logits); }

// How often each token comes in `draws`.
std::vector<double> frequencies(const Tensor& logits, const Sampling& sampling, int draws, std::uint64_t seed = 4) {
  Random random(seed);
  std::vector<double> counts(static_cast<std::size_t>(logits.size()), 0.0);
  for (int n = 0; n < draws; ++n) ++counts[static_cast<std::size_t>(sample(logits, sampling, random))];
  for (double& count : counts) count /= draws;
  return counts;
}

// What softmax(logits / temperature) says, left to the tokens named by `kept`.
std::vector<double> expected(const std::vector<double>& logits, double temperature, const std::vector<bool>& kept) {
  std::vector<double> p;
  double total = 0;
  for (std::size_t k = 0; k < logits.size(); ++k) p.push_back(kept[k] ? std::exp(logits[k] / temperature) : 0);
  for (const double weight : p) total += weight;
  for (double& weight : p) weight /= total;
  return p;
}

// Pearson's statistic per draw is compared with a bound that chance passes once in a million (6 degrees of freedom:
// 38).
void check_frequencies(const Sampling& sampling, const std::vector<bool>& kept) {
  const std::vector<double> logits = {0, 1.5, -1, 2, 0.5, -3, 1};
  constexpr int draws = 20000;
  const auto wanted = expected(logits, static_cast<double>(sampling.temperature), kept);
  const auto got = frequencies(row({0, Real(1.5), -1, 2, Real(0.5), -3, 1}), sampling, draws);
  double statistic = 0;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (!kept[k]) CHECK(got[k] == 0);
    if (kept[k]) statistic += draws * (got[k] - wanted[k]) * (got[k] - wanted[k]) / wanted[k];
  }
  CHECK(statistic < 38);
}

std::vector<Index> continued(const TransformerXL& model, const Sampling& sampling, std::uint64_t seed,
                             Index memory = 20) {
  Generator generator(model, memory);
  generator.read({1, 2, 3});
  Random random(seed);
  std::vector<Index> text;
  for (int n = 0; n < 12; ++n) text.push_back(generator.next(sampling, random));
  return text;
}

}  // namespace

TEST_CASE("Tokens come as often as softmax says, at any temperature, top_k and top_p") {
  const std::vector<bool> all(7, true);
  check_frequencies({}, all);
  check_frequencies({.temperature = Real(0.5)}, all);
  check_frequencies({.temperature = 3}, all);
  check_frequencies({.top_k = 3}, {false, true, false, true, false, false, true});
  check_frequencies({.temperature = 2, .top_k = 2}, {false, true, false, true, false, false, false});
  // Likeliest first: 0.42, 0.25, 0.15, ..: two tokens make 0.67, three 0.83.
  check_frequencies({.top_p = Real(0.6)}, {false, true, false, true, false, false, false});
  check_frequencies({.top_p = Real(0.7)}, {false, true, false, true, false, false, true});
  check_frequencies({.top_k = 2, .top_p = Real(0.99)}, {false, true, false, true, false, false, false});
}

TEST_CASE("Temperature 0 takes the likeliest token, the first of several, and draws no random number") {
  Random random(1), untouched(1);
  CHECK(sample(row({1, 3, 2}), {.temperature = 0}, random) == 1);
  CHECK(sample(row({1, 3, 3}), {.temperature = 0}, random) == 1);
  CHECK(sample(row({-infinity, -5, -infinity}), {.temperature = 0}, random) == 1);
  CHECK(random.uniform() == untouched.uniform());
  CHECK(frequencies(row({1, 3, 2}), {.temperature = Real(1e-30)}, 50)[1] == 1);
}

TEST_CASE("top_k 0 is off and above V is V; top_k 1 is the likeliest") {
  const Tensor logits = row({0, 1, 2});
  const auto off = frequencies(logits, {.top_k = 0}, 500);
  CHECK(frequencies(logits, {.top_k = 3}, 500) == off);
  CHECK(frequencies(logits, {.top_k = 1000}, 500) == off);
  CHECK(frequencies(logits, {.top_k = 1}, 50)[2] == 1);
}

TEST_CASE("top_p keeps at least the best token, and 1 keeps all") {
  CHECK(frequencies(row({0, 9, 1}), {.top_p = Real(0.01)}, 200)[1] == 1);
  CHECK(frequencies(row({0, 0, 0}), {.top_p = Real(1e-30)}, 200)[0] == 1);
  const auto all = frequencies(row({0, 0, 0}), {.top_p = 1}, 500);
  for (const double frequency : all) CHECK(frequency > 0.2);
}

TEST_CASE("A token at -infinity is never drawn; logits of any size are") {
  const auto counts = frequencies(row({0, -infinity, 0, -infinity}), {}, 500);
  CHECK(counts[1] + counts[3] == 0);
  CHECK(counts[0] > 0.3);
  CHECK(frequencies(row({Real(1e30), Real(-1e30)}), {}, 50)[0] == 1);
  CHECK(frequencies(row({5}), {}, 5)[0] == 1);
}

TEST_CASE("Logits that are NaN, all -infinity, +infinity or none, and numbers without sense, are errors") {
  Random random(1);
  const auto error = [&](const std::vector<Real>& logits, const Sampling& sampling) {
    return thrown_by<ValueError>([&] { sample(row(logits), sampling, random); });
  };
  CHECK(holds(error({0, nan_value}, {}), "NaN"));
  CHECK(holds(error({nan_value, 0}, {.temperature = 0}), "NaN"));
  CHECK(holds(error({-infinity, -infinity}, {}), "2 logits whose largest is -inf"));
  CHECK(holds(error({infinity, 0}, {}), "largest is inf"));
  CHECK(holds(error({}, {}), "0 logits"));
  CHECK(holds(error({0, 1}, {.temperature = -1}), "temperature -1"));
  CHECK(holds(error({0, 1}, {.temperature = nan_value}), "temperature nan"));
  CHECK(holds(error({0, 1}, {.temperature = infinity}), "temperature inf"));
  CHECK(holds(error({0, 1}, {.top_k = -1}), "top_k -1"));
  for (const Real wrong : {Real(0), Real(-0.5), Real(1.5), nan_value})
    CHECK(holds(error({0, 1}, {.top_p = wrong}), "top_p"));
  CHECK(holds(error({0, 1}, {.top_p = 0}), "generation_test.cpp"));
}

TEST_CASE("Reading all at once, in pieces or one by one predicts what one long pass predicts") {
  for (const Config& config : all_variants()) {
    CAPTURE(to_string(config));
    const TransformerXL model = random_model(config);
    const Tokens text = random_tokens(1, 11, 7);
    const Index memory = config.same_length ? config.memory_length : 11;
    const Tensor whole = logits_in_pieces(model, text, {11}, memory).narrow(1, 10, 1).reshape({-1});
    for (const Index piece : {1, 3, 4, 11}) {
      Generator generator(model, memory);
      for (Index start = 0; start < 11; start += piece) {
        generator.read(columns(text, start, std::min<Index>(piece, 11 - start)).ids);
      }
      check_close(generator.logits(), whole, rounding);
    }
  }
}

TEST_CASE("Generated with memory, a text is the one that reading everything anew for each token gives") {
  const TransformerXL model = random_model(tiny_config());
  for (const Sampling& sampling : {Sampling{.temperature = 0}, Sampling{}}) {
    Random random(5);
    std::vector<Index> text = {1, 2, 3};
    for (int n = 0; n < 12; ++n) {
      const Index L = static_cast<Index>(text.size());
      const Tensor logits = logits_in_pieces(model, Tokens({1, L}, text), {L}, L).narrow(1, L - 1, 1).reshape({-1});
      text.push_back(sample(logits, sampling, random));
    }
    CHECK(std::vector<Index>(text.begin() + 3, text.end()) == continued(model, sampling, 5));
  }
}

TEST_CASE("Unless told otherwise generation remembers as much as the model did in training") {
  const TransformerXL model = random_model(tiny_config());
  const Index M = model.config.memory_length;
  CHECK(M > 0);
  CHECK(Generator(model).memory().limit == M);
  GenerationOptions said;
  said.memory_length = M;
  GenerationOptions none;
  none.memory_length = 0;
  const auto written = [&](const GenerationOptions& options) {
    std::vector<Random> random = {Random(3), Random(4)};
    return generate(model, {{1, 2, 3, 4, 5}, {6}}, options, random);
  };
  CHECK(written({}) == written(said));
  CHECK(written({}) != written(none));
}

TEST_CASE("The same seed gives the same text, another seed another; temperature 0 needs no seed") {
  const TransformerXL model = random_model(tiny_config());
  CHECK(continued(model, {}, 1) == continued(model, {}, 1));
  CHECK(continued(model, {}, 1) != continued(model, {}, 2));
  CHECK(continued(model, {.temperature = 0}, 1) == continued(model, {.temperature = 0}, 2));
  CHECK(continued(model, {}, 1, 0).size() == 12);
}

TEST_CASE("Without a prompt there is nothing to go on from, and a token outside the vocabulary changes nothing") {
  const TransformerXL model = random_model(tiny_config());
  Generator generator(model, 8);
  Random random(1);
  CHECK(holds(thrown_by<ValueError>([&] { generator.next({}, random); }), "prompt"));
  generator.read({});
  CHECK_THROWS_AS(generator.next({}, random), ValueError);
  CHECK_THROWS_AS(Generator(model, -1), ValueError);
  CHECK_THROWS_AS(generator.read({0, 1, 2, 3, 4, 7}), RangeError);
  CHECK_THROWS_AS(generator.next({}, random), ValueError);
  generator.read({1, 2, 3});
  const Tensor before = generator.logits().clone();
  CHECK_THROWS_AS(generator.read({0, 1, 2, 3, 4, -1}), RangeError);
  CHECK(same_bits(generator.logits(), before));
  generator.read({4});
  Generator twin(model, 8);
  twin.read({1, 2, 3});
  twin.read({4});
  CHECK(same_bits(generator.logits(), twin.logits()));
}

TEST_CASE("A generator keeps no graph") {
  const TransformerXL model = random_model(tiny_config());
  Generator generator(model, 8);
  generator.read({1, 2, 3});
  const std::int64_t before = live_node_count();
  for (int n = 0; n < 20; ++n) generator.read({1, 2, 3, 4, 5});
  CHECK(live_node_count() == before);
}

TEST_CASE("Rows of any lengths, side by side, are what each is alone, whether the memory covers them or not") {
  const std::vector<std::vector<Index>> prompts = {{1, 2, 3, 4, 5, 6, 0, 1, 2}, {3}, {5, 5, 1, 0}, {2, 4, 6, 1, 1}};
  for (const Config& config : all_variants()) {
    CAPTURE(to_string(config));
    const TransformerXL model = random_model(config);
    for (const Index memory : {Index(0), Index(3), Index(40)}) {
      if (config.same_length && memory == 0) continue;
      for (const Sampling& sampling : {Sampling{.temperature = 0}, Sampling{}}) {
        std::vector<Random> random = {Random(1), Random(2), Random(3), Random(4)};
        const auto texts = generate(model, prompts, {sampling, 12, -1, memory}, random);
        REQUIRE(texts.size() == 4);
        for (std::size_t b = 0; b < 4; ++b) {
          Generator alone(model, memory);
          alone.read(prompts[b]);
          Random own(b + 1);
          std::vector<Index> text;
          for (int n = 0; n < 12; ++n) text.push_back(alone.next(sampling, own));
          CHECK(texts[b] == text);
          CHECK(random[b].uniform() == own.uniform());
        }
      }
    }
  }
}

TEST_CASE("Joined rows predict what each predicts alone") {
  for (const Config& config : all_variants()) {
    const TransformerXL model = random_model(config);
    for (const Index limit : {4, 20}) {
      std::vector<Memory> rows;
      std::vector<Tensor> alone;
      const Tokens more = random_tokens(3, 6, 7, 11);
      for (Index b = 0; b < 3; ++b) {
        Memory memory = empty_memory(model.config, 1, limit);
        logits_in_pieces(model, random_tokens(1, 2 + 3 * b, 7), {2 + 3 * b}, memory);
        rows.push_back(memory);
        alone.push_back(logits_in_pieces(model, row_of(more, b), {1, 1, 4}, memory));
      }
      Memory joined = join_rows(rows);
      check_close(logits_in_pieces(model, more, {1, 1, 4}, joined), concat(alone, 0), rounding);
    }
  }
}

TEST_CASE("A text ends before its stop token, and the other rows go on") {
  const TransformerXL model = random_model(tiny_config());
  const std::vector<std::vector<Index>> prompts = {{1}, {2, 3}, {4, 5, 6}, {6, 0}};
  const auto seeds = [] { return std::vector<Random>{Random(1), Random(2), Random(3), Random(4)}; };
  std::vector<Random> random = seeds();
  const auto endless = generate(model, prompts, {{}, 30, -1, 40}, random);
  bool some_end_and_others_go_on = false;
  for (Index token = 0; token < 7; ++token) {
    random = seeds();
    const auto stopped = generate(model, prompts, {{}, 30, token, 40}, random);
    std::size_t ended = 0;
    for (std::size_t b = 0; b < 4; ++b) {
      const auto stop = std::find(endless[b].begin(), endless[b].end(), token);
      CHECK(stopped[b] == std::vector<Index>(endless[b].begin(), stop));
      ended += stop != endless[b].end() ? 1 : 0;
    }
    some_end_and_others_go_on = some_end_and_others_go_on || (ended > 0 && ended < 4);
  }
  CHECK(some_end_and_others_go_on);
}

TEST_CASE("Nothing to write is an empty text; an empty prompt, a negative length and a missing generator are errors") {
  const TransformerXL model = random_model(tiny_config());
  std::vector<Random> two = {Random(1), Random(2)}, none;
  CHECK(generate(model, {{1}, {2, 3}}, {{}, 0, -1, 8}, two) == std::vector<std::vector<Index>>(2));
  CHECK(generate(model, {}, {}, none).empty());
  CHECK(holds(message_of<ValueError>([&] { generate(model, {{1}, {}}, {}, two); }), "prompt 1 is empty"));
  CHECK(holds(message_of<ValueError>([&] { generate(model, {{1}, {2}}, {.length = -1}, two); }), "length of -1"));
  CHECK(holds(message_of<ValueError>([&] { generate(model, {{1}}, {}, two); }), "2 random generators for 1"));
  CHECK_THROWS_AS(generate(model, {{1}, {7}}, {}, two), RangeError);
  CHECK_THROWS_AS(join_rows({}), ValueError);
  CHECK_THROWS_AS(join_rows({empty_memory(model.config, 1, 3), empty_memory(model.config, 1, 4)}), ShapeError);
  CHECK_THROWS_AS(join_rows({empty_memory(model.config, 2, 3)}), ShapeError);
}

}  // namespace segue::xl_generation_test
