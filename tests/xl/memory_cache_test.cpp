#include "xl/tools/memory_cache.hpp"

#include <doctest/doctest.h>

#include "nn/optimizer.hpp"
#include "tests/support/tiny_models.hpp"
#include "xl/rivals/model.hpp"
#include "xl/tools/generation.hpp"

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

TEST_CASE("A view of the memory that came out is not that memory: a part of it, a row of it, rows of it repeated") {
  const TransformerXL model = random_model(tiny_config());
  const CachingTransformerXL caching(model);
  const auto check_view = [&](Index rows, const std::function<Tensor(const Tensor&)>& view_of) {
    const Memory memory = read(caching, random_tokens(2, 5, 7, 1), empty_memory(model.config, 2, 5)).memory;
    Memory view = memory;
    for (Variable& layer : view.layers) layer = Variable(view_of(layer.value()));
    view.tokens_read.assign(static_cast<std::size_t>(rows), 5);
    const Tokens tokens = random_tokens(rows, 3, 7, 2);
    check_same(read(caching, tokens, view), read(model, tokens, view));
  };
  check_view(2, [](const Tensor& m) { return m.narrow(1, 0, 3); });
  check_view(2, [](const Tensor& m) { return m.narrow(1, 2, 3); });
  check_view(1, [](const Tensor& m) { return m.narrow(0, 1, 1); });
  check_view(1, [](const Tensor& m) { return m.narrow(0, 0, 1); });
  check_view(2, [](const Tensor& m) { return m.narrow(0, 1, 1).broadcast_to({2, 5, 4}); });
  check_view(2, [](const Tensor& m) { return m.reshape({2, 4, 5}).permute({0, 2, 1}); });
}

TEST_CASE("What is kept ends with any weight or setting that it depends on, and with a call that trains") {
  for (const bool pre_norm : {false, true}) {
    Config config = tiny_config();
    config.pre_norm = pre_norm;
    config.clamp_length = 3;
    TransformerXL model = random_model(config);
    const CachingTransformerXL caching(model);
    const Tokens tokens = random_tokens(1, 3, 7, 1);
    const auto check_after = [&](const std::function<void()>& change) {
      const Memory memory = read(caching, tokens, empty_memory(config, 1, 5)).memory;
      change();
      check_same(read(caching, tokens, memory), read(model, tokens, memory));
    };
    RelativeAttention& attention = model.layers[0].attention;
    LayerNorm& norm = model.layers[1].attention_norm;
    for (Variable* weight : {&attention.w_q, &attention.w_k_E, &attention.w_k_R, &attention.w_v, &norm.gain, &norm.bias,
                             &model.u, &model.embedding.table}) {
      check_after([&] { weight->set_value(add(weight->value(), Tensor::full(weight->shape(), Real(0.25)))); });
      check_after([&] { Tensor(weight->value()).fill_in_place(Real(0.5)); });
    }
    check_after([&] { model.config.clamp_length = 1; });
    check_after([&] { model.config.pre_norm = !model.config.pre_norm; });
    Random random(1);
    check_after([&] { caching(tokens, empty_memory(config, 1, 5), Mode::train(random)); });
    const Memory trained = caching(tokens, empty_memory(config, 1, 5), Mode::train(random)).memory;
    check_same(read(caching, tokens, trained), read(model, tokens, trained));
    CHECK_THROWS_AS(read(caching, Tokens({1, 1}, {7}), trained), RangeError);
    check_same(read(caching, tokens, trained), read(model, tokens, trained));
  }
}

TEST_CASE("Two readers of one model, a Generator among them, do not disturb each other") {
  const TransformerXL model = random_model(tiny_config());
  const CachingTransformerXL caching(model);
  Generator generator(model, 5);
  generator.read({1, 2, 3});
  const Tensor first = generator.logits().clone();
  const Tokens tokens = random_tokens(1, 3, 7, 1);
  const Memory memory = read(caching, tokens, generator.memory()).memory;
  check_same(read(caching, tokens, memory), read(model, tokens, memory));
  generator.read({4});
  Generator other(model, 5);
  other.read({1, 2, 3});
  CHECK(same_bits(other.logits(), first));
  other.read({4});
  CHECK(same_bits(other.logits(), generator.logits()));
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
