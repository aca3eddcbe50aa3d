#include "xl/tools/sliding_generation.hpp"

#include <doctest/doctest.h>

#include "tests/support/tiny_models.hpp"

namespace segue::xl_sliding_generation_test {

namespace {

using Texts = std::vector<std::vector<Index>>;

std::vector<Random> generators(std::uint64_t first, std::size_t count) {
  std::vector<Random> random;
  for (std::size_t b = 0; b < count; ++b) random.emplace_back(first + b);
  return random;
}

Texts sliding(const TransformerXL& model, const Texts& prompts, Index length, std::uint64_t seed = 1,
              const Sampling& sampling = {}) {
  std::vector<Random> random = generators(seed, prompts.size());
  return generate_sliding(model, prompts, length, sampling, random);
}

}  // namespace

TEST_CASE("While the window covers the text, it is the text written with a memory") {
  for (Config config : all_variants()) {
    CAPTURE(to_string(config));
    config.segment_length = 12;
    const TransformerXL model = random_model(config);
    const Texts prompts = {{1, 2, 3}, {4, 4, 6}, {0, 5, 1}};
    std::vector<Random> random = generators(1, 3);
    const GenerationOptions options = {.length = 10, .memory_length = 12};
    CHECK(sliding(model, prompts, 10) == generate(model, prompts, options, random));
  }
}

TEST_CASE("What lies before the last T tokens has no part in the next, and the last T all have") {
  const TransformerXL model = random_model(tiny_config());  // T = 4
  const std::vector<Index> last = {3, 1, 6, 2};
  std::vector<Index> longer = {5, 0, 5};
  longer.insert(longer.end(), last.begin(), last.end());
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CHECK(sliding(model, {longer}, 12, seed) == sliding(model, {last}, 12, seed));
  }
  int changed = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    changed += sliding(model, {{4, 1, 6, 2}}, 1, seed) != sliding(model, {last}, 1, seed) ? 1 : 0;
  }
  CHECK(changed > 0);
}

TEST_CASE("Rows side by side are what each is alone, and temperature 0 needs no random numbers") {
  const TransformerXL model = random_model(tiny_config());
  const Texts prompts = {{1, 2}, {6, 0}, {3, 3}};
  const Texts together = sliding(model, prompts, 9, 7);
  for (std::size_t b = 0; b < prompts.size(); ++b) CHECK(sliding(model, {prompts[b]}, 9, 7 + b)[0] == together[b]);
  CHECK(sliding(model, prompts, 9, 1, {.temperature = 0}) == sliding(model, prompts, 9, 2, {.temperature = 0}));
  CHECK(sliding(model, prompts, 0) == Texts(3));
  CHECK(sliding(model, {}, 5).empty());
}

TEST_CASE("Prompts that are empty or unequal, a missing generator and a negative length are errors") {
  const TransformerXL model = random_model(tiny_config());
  std::vector<Random> one = generators(1, 1);
  const auto message = [&](const Texts& prompts, Index length) {
    return message_of<ValueError>([&] { generate_sliding(model, prompts, length, {}, one); });
  };
  CHECK(holds(message({{}}, 3), "needs at least one token"));
  CHECK(holds(message({{1}, {2}}, 3), "1 random generators for 2 prompts"));
  CHECK(holds(message({{1}}, -1), "-1 tokens is below 0"));
  CHECK_THROWS_AS(sliding(model, {{1}, {1, 2}}, 3), ShapeError);
  CHECK_THROWS_AS(sliding(model, {{7}}, 3), RangeError);
}

}  // namespace segue::xl_sliding_generation_test
