#include "xl/tools/memory_cache.hpp"

#include <doctest/doctest.h>

#include "nn/optimizer.hpp"
#include "tests/support/tiny_models.hpp"
#include "xl/rivals/model.hpp"

namespace segue::xl_memory_cache_test {

namespace {

Output read(const LanguageModel& model, const Tokens& tokens, const Memory& memory) {
  return model(tokens, memory, Mode::evaluate());
}

void check_same(const Output& x, const Output& y) {
  CHECK(same_bits(x.logits.value(), y.logits.value()));
  for (std::size_t n = 0; n < x.memory.layers.size(); ++n) {
    CHECK(same_bits(x.memory.layers[n].value(), y.memory.layers[n].value()));
  }
}

}  // namespace

TEST_CASE("What is kept of the memory changes no bit, whatever the lengths and with resets between") {
  for (const Config& config : all_variants()) {
    const TransformerXL model = random_model(config);
    const CachingTransformerXL caching(model);
    for (const Index M : {0, 1, 3, 9}) {
      Memory memory = empty_memory(config, 2, M);
      if (config.same_length && M == 0) continue;
      std::uint64_t seed = 1;
      for (const Index T : {2, 4, 4, 1, 1, 4, 7}) {
        CAPTURE(M);
        CAPTURE(seed);
        if (seed == 4) memory = reset_rows(memory, {1});
        const Tokens tokens = random_tokens(2, T, 7, seed++);
        const Output output = read(caching, tokens, memory);
        check_same(output, read(model, tokens, memory));
        memory = output.memory;
      }
    }
  }
}

TEST_CASE("A memory from elsewhere, one that was read before, and one changed in place are projected anew") {
  const TransformerXL model = random_model(tiny_config());
  const CachingTransformerXL caching(model);
  const Tokens tokens = random_tokens(1, 3, 7, 1);
  const Memory empty = empty_memory(model.config, 1, 5);
  const Memory first = read(caching, tokens, empty).memory;
  const Memory second = read(caching, tokens, first).memory;
  check_same(read(caching, tokens, first), read(model, tokens, first));
  const Memory other = random_memory(model.config, 1, 5, 5);
  check_same(read(caching, tokens, other), read(model, tokens, other));
  Memory changed = read(caching, tokens, second).memory;
  Tensor state = changed.layers[1].value();
  state.fill_in_place(Real(0.25));
  check_same(read(caching, tokens, changed), read(model, tokens, changed));
}

TEST_CASE("After a step of training nothing that was kept is used") {
  TransformerXL model = random_model(tiny_config());
  const CachingTransformerXL caching(model);
  const Tokens tokens = random_tokens(1, 3, 7, 1);
  const Memory memory = read(caching, tokens, empty_memory(model.config, 1, 5)).memory;
  Adam adam(parameters(model));
  for (Parameter& p : adam.parameters) p.variable.set_gradient(Tensor::full(p.variable.shape(), 1));
  adam.step(Real(0.1));
  check_same(read(caching, tokens, memory), read(model, tokens, memory));
}

TEST_CASE("A Transformer-XL is read through a cache, any other model as it is") {
  const Config config = tiny_config();
  const TransformerXL model = random_model(config);
  const std::shared_ptr<const LanguageModel> caching = reading_model(model);
  CHECK(dynamic_cast<const CachingTransformerXL*>(caching.get()) != nullptr);
  Random random(1);
  const auto rival = make_model(config, encoding_named("shaw"), random);
  CHECK(reading_model(*rival).get() == rival.get());
}

}  // namespace segue::xl_memory_cache_test
