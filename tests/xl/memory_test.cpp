#include "xl/memory.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "tests/support/tiny_models.hpp"

namespace segue::xl_memory_test {

namespace {

// Positions first, first + 1, .. as states [B, length, D] that tell row, position and place apart.
Tensor numbered(Index B, Index first, Index length, Index D) {
  Tensor x = Tensor::uninitialized({B, length, D});
  for (Index b = 0; b < B; ++b) {
    for (Index t = 0; t < length; ++t) {
      for (Index d = 0; d < D; ++d) x.set_in_place({b, t, d}, static_cast<Real>(1000 * b + 10 * (first + t) + d));
    }
  }
  return x;
}

}  // namespace

TEST_CASE("The new memory is the last positions of the old one and the segment, at most the limit") {
  for (const Index M : {0, 1, 2, 3, 5, 8}) {
    for (const Index T : {0, 1, 3, 5}) {
      for (const Index limit : {0, 1, 2, 4, 5, 6, 100}) {
        CAPTURE(M);
        CAPTURE(T);
        CAPTURE(limit);
        const Variable old(numbered(2, 0, M, 3)), hidden(numbered(2, M, T, 3));
        const Index kept = std::min(limit, M + T);
        const Tensor expected = numbered(2, M + T - kept, kept, 3);
        CHECK(same_bits(update_memory(old, hidden, limit).value(), expected));
        CHECK(same_bits(update_memory(old, hidden, limit, false).value(), expected));
      }
    }
  }
}

TEST_CASE("The gradient ends at the memory, or runs on to old memory and segment when asked to") {
  const Variable old = parameter(random_tensor({1, 2, 3})), hidden = parameter(random_tensor({1, 2, 3}));
  CHECK_FALSE(update_memory(old, hidden, 3).needs_gradient());
  CHECK(update_memory(old, hidden, 3).node().inputs.empty());
  CHECK(update_memory(old, hidden, 3, false).needs_gradient());
  check_gradients([](const std::vector<Variable>& v) { return update_memory(v[0], v[1], 3, false); },
                  {{2, 2, 3}, {2, 2, 3}});
}

TEST_CASE("Old memory and segment of other batch or width do not fit") {
  const auto update = [](const Shape& old, const Shape& hidden) {
    return thrown_by<ShapeError>(
        [&] { update_memory(Variable(Tensor::zeros(old)), Variable(Tensor::zeros(hidden)), 4); });
  };
  CHECK(holds(update({10, 2, 3}, {2, 2, 3}), "[10, 2, 3]"));
  CHECK(holds(update({2, 2, 3}, {2, 2, 4}), "[2, 2, 4]"));
  CHECK(update({2, 2, 3}, {2, 2, 3}).empty());
}

TEST_CASE("An empty memory has a state of no positions for each layer, as wide as the model") {
  Config config = tiny_config();  // D is 4, F is 5
  const Memory memory = empty_memory(config, 3, 8);
  CHECK(memory.layers.size() == 2);
  for (const Variable& layer : memory.layers) CHECK(layer.shape() == Shape{3, 0, 4});
  CHECK(memory.batch() == 3);
  CHECK(memory.length() == 0);
  CHECK(memory.limit == 8);
  CHECK(holds(thrown_by<ValueError>([&] { empty_memory(config, 0, 8); }), "0 rows of up to 8"));
  CHECK(holds(thrown_by<ValueError>([&] { empty_memory(config, 1, -1); }), "1 rows of up to -1"));
}

TEST_CASE("The memory grows by a segment up to its limit and never beyond") {
  const TransformerXL model = random_model(tiny_config());
  for (const Index limit : {0, 3, 4, 7, 100}) {
    Memory memory = empty_memory(model.config, 2, limit);
    for (Index segment = 1; segment <= 4; ++segment) {
      memory = model(random_tokens(2, 3, 7), memory, Mode::evaluate()).memory;
      CHECK(memory.length() == std::min<Index>(limit, 3 * segment));
      CHECK(memory.tokens_read == std::vector<Index>(2, 3 * segment));
      CHECK(memory.limit == limit);
      for (const Variable& layer : memory.layers) CHECK(layer.shape() == Shape{2, memory.length(), 4});
    }
  }
}

TEST_CASE("Without a limit in sight the memory keeps everything") {
  const TransformerXL model = random_model(tiny_config());
  Memory memory = empty_memory(model.config, 1, std::numeric_limits<Index>::max());
  logits_in_pieces(model, random_tokens(1, 12, 7), {4, 4, 4}, memory);
  CHECK(memory.length() == 12);
  CHECK(memory.tokens_read == std::vector<Index>{12});
}

TEST_CASE("With a memory of length 0 every segment stands alone, call after call") {
  const TransformerXL model = random_model(tiny_config());
  const Tokens tokens = random_tokens(2, 12, 7);
  const Tensor all = logits_in_pieces(model, tokens, {4, 4, 4}, 0);
  for (const Index s : {0, 1, 2}) {
    CHECK(same_bits(all.narrow(1, 4 * s, 4), logits_in_pieces(model, columns(tokens, 4 * s, 4), {4}, 0)));
  }
}

TEST_CASE("The memory of a layer is what the layer reads") {
  const TransformerXL model = random_model(tiny_config());
  const Tokens tokens = random_tokens(2, 3, 7);
  const Memory memory = model(tokens, empty_memory(model.config, 2, 8), Mode::evaluate()).memory;
  const Variable embedded = scale(model.embedding(tokens), 2);  // sqrt(D)
  CHECK(same_bits(memory.layers[0].value(), embedded.value()));
  CHECK_FALSE(same_bits(memory.layers[1].value(), embedded.value()));
}

TEST_CASE("A reset hides the named rows and sets them to zero; the others and the old memory stay") {
  const Memory memory = random_memory(tiny_config(), 3, 4, 6);
  const Memory fresh = reset_rows(memory, {2, 0, 2});
  CHECK(fresh.tokens_read == std::vector<Index>{0, 4, 0});
  CHECK(memory.tokens_read == std::vector<Index>{4, 4, 4});
  CHECK(fresh.length() == 4);
  for (std::size_t n = 0; n < 2; ++n) {
    for (const Index row : {0, 2}) {
      CHECK(same_bits(fresh.layers[n].value().narrow(0, row, 1), Tensor::zeros({1, 4, 4})));
    }
    CHECK(same_bits(fresh.layers[n].value().narrow(0, 1, 1), memory.layers[n].value().narrow(0, 1, 1)));
  }
  CHECK(same_bits(reset_rows(memory, {}).layers[0].value(), memory.layers[0].value()));
}

TEST_CASE(
    "When every row begins anew the memory is empty, and without the stop-gradient the graph behind it is freed") {
  Config config = tiny_config();
  config.stop_memory_gradient = false;
  const TransformerXL model = random_model(config);
  const std::int64_t before = live_node_count();
  Memory memory = model(random_tokens(2, 3, 7), empty_memory(config, 2, 6), Mode::evaluate()).memory;
  memory = reset_rows(memory, {1});
  CHECK(memory.length() == 3);
  CHECK(live_node_count() > before + 2);
  memory = reset_rows(memory, {0});
  CHECK(memory.length() == 0);
  CHECK(memory.limit == 6);
  CHECK(live_node_count() == before + 2);  // an empty state for each layer
}

TEST_CASE("What is visible after a reset grows with the segments until the memory is full of it") {
  const TransformerXL model = random_model(tiny_config());
  Memory memory = reset_rows(random_memory(model.config, 2, 5, 5), {1});
  std::vector<Index> seen;
  for (int segment = 0; segment < 3; ++segment) {
    memory = model(random_tokens(2, 2, 7), memory, Mode::evaluate()).memory;
    CHECK(memory.visible(0) == 5);
    seen.push_back(memory.visible(1));
  }
  CHECK(seen == std::vector<Index>{2, 4, 5});
}

TEST_CASE("Resetting a row that is not there is an error") {
  const Memory memory = empty_memory(tiny_config(), 3, 4);
  CHECK(holds(thrown_by<RangeError>([&] { reset_rows(memory, {0, 3}); }), "row 3 of 3"));
  CHECK(holds(thrown_by<RangeError>([&] { reset_rows(memory, {-1}); }), "row -1 of 3"));
}

}  // namespace segue::xl_memory_test
