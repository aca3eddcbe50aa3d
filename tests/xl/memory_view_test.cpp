#include "xl/tools/memory_view.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "tests/support/tiny_models.hpp"

namespace segue::xl_memory_view_test {

namespace {

// For one row of text, read in segments of T (the last may be shorter): what each layer reads at the last position, and
// the logits there.
std::vector<Tensor> last_states(const TransformerXL& model, const Tokens& text, Index T, Index M) {
  const NoGradientGuard no_gradient;
  Memory memory = empty_memory(model.config, 1, M);
  std::vector<Tensor> states;
  for (Index start = 0; start < text.shape[1]; start += T) {
    const Index length = std::min(T, text.shape[1] - start);
    const Memory before = memory;
    const Tokens segment = columns(text, start, length);
    const Output output = model(segment, before, Mode::evaluate());
    memory = output.memory;
    if (start + length < text.shape[1]) continue;
    Memory all = before;  // the same segment once more, with room for all its states
    all.limit = model.config.same_length ? M : std::numeric_limits<Index>::max();
    if (all.limit > 0) {
      for (const Variable& layer : model(segment, all, Mode::evaluate()).memory.layers) {
        states.push_back(layer.value().narrow(1, layer.dim(1) - 1, 1));
      }
    }
    states.push_back(output.logits.value().narrow(1, length - 1, 1));
  }
  return states;
}

// How many tokens change one of these by a bit: counted by changing each.
std::vector<Index> reach_by_influence(const TransformerXL& model, Index T, Index M, Index i) {
  const Index L = (model.config.layers * M / T + 2) * T + i + 1;  // farther than can be seen
  const Tokens text = random_tokens(1, L, 7);
  const std::vector<Tensor> before = last_states(model, text, T, M);
  std::vector<Index> counts(before.size(), 0);
  for (Index t = 0; t < L; ++t) {
    Tokens changed = text;
    changed[t] = (text[t] + 1) % 7;
    const std::vector<Tensor> after = last_states(model, changed, T, M);
    for (std::size_t n = 0; n < counts.size(); ++n) counts[n] += same_bits(before[n], after[n]) ? 0 : 1;
  }
  return counts;
}

}  // namespace

TEST_CASE("Each layer sees as many tokens as change its states when they are changed, one by one") {
  for (const bool same_length : {false, true}) {
    for (const Index M : {0, 1, 3, 5}) {
      if (same_length && M == 0) continue;
      Config config = tiny_config();
      config.layers = 3;
      config.same_length = same_length;
      const TransformerXL model = random_model(config);
      for (const Index i : {0, 2}) {
        CAPTURE(same_length);
        CAPTURE(M);
        CAPTURE(i);
        CHECK(reach_by_influence(model, 3, M, i) == tokens_in_reach(config, 3, M, i));
      }
    }
  }
}

TEST_CASE("The reach is n M + i + 1 when segments divide the memory, and n (M - 1) + 1 with same_length") {
  Config config = tiny_config();
  config.layers = 4;
  CHECK(tokens_in_reach(config, 16, 32, 15) == std::vector<Index>{1, 48, 80, 112, 144});
  CHECK(tokens_in_reach(config, 16, 0, 15) == std::vector<Index>{1, 16, 16, 16, 16});
  CHECK(tokens_in_reach(config, 16, 32, 0) == std::vector<Index>{1, 33, 65, 97, 129});
  CHECK(tokens_in_reach(config, 4, 2, 3) == std::vector<Index>{1, 6, 10, 14, 18});
  config.same_length = true;
  for (const Index i : {0, 7, 15}) {
    CHECK(tokens_in_reach(config, 16, 32, i) == std::vector<Index>{1, 32, 63, 94, 125});
  }
  CHECK(tokens_in_reach(config, 16, 1, 5) == std::vector<Index>{1, 1, 1, 1, 1});
}

TEST_CASE("A reach of what is not there is an error") {
  Config config = tiny_config();
  const auto message = [&](Index T, Index M, Index i) {
    return thrown_by<ValueError>([&] { tokens_in_reach(config, T, M, i); });
  };
  CHECK(holds(message(4, 2, 4), "position 4 in a segment of 4"));
  CHECK(holds(message(4, 2, -1), "position -1"));
  CHECK(holds(message(0, 2, 0), "segment of 0"));
  CHECK(holds(message(4, -1, 0), "memory of -1"));
  CHECK(holds(message(4, std::numeric_limits<Index>::max(), 0), "memory of 9223372036854775807"));
  CHECK(message(4, 1000000000, 0).empty());
  CHECK(holds(message(std::numeric_limits<Index>::min(), 2, 0), "segment of -9223372036854775808"));
  config.same_length = true;
  CHECK(holds(message(4, 0, 0), "same_length"));
  config.layers = -1;
  CHECK(holds(message(4, 2, 0), "layers must be in 1"));
}

TEST_CASE("A state is read by layer, row and position, without a copy") {
  const Memory memory = random_memory(tiny_config(), 3, 5, 8);
  for (const Index n : {0, 1}) {
    const Tensor& layer = memory.layers[static_cast<std::size_t>(n)].value();
    for_each_position(layer.shape(), [&](const Position& p) {
      const Tensor state = state_at(memory, n, p[0], p[1]);
      CHECK(state.shape() == Shape{4});
      CHECK(state.at({p[2]}) == element(layer, p));
      CHECK(state.storage() == layer.storage());
    });
  }
}

TEST_CASE("A state that is not there is an error that says what is") {
  const Memory memory = random_memory(tiny_config(), 3, 5, 8);
  const Position bad[] = {{2, 0, 0}, {-1, 0, 0}, {0, 3, 0}, {0, -1, 0}, {0, 0, 5}, {0, 0, -1}};
  for (const Position& p : bad) {
    const std::string message = message_of<RangeError>([&] { state_at(memory, p[0], p[1], p[2]); });
    CHECK(holds(message, "of 2 layers, 3 rows, 5 positions"));
  }
  CHECK_THROWS_AS(state_at(empty_memory(tiny_config(), 1, 4), 0, 0, 0), RangeError);
  CHECK_THROWS_AS(state_at(Memory(), 0, 0, 0), RangeError);
  Memory crooked = memory;
  crooked.tokens_read.pop_back();
  CHECK(holds(message_of<ShapeError>([&] { state_at(crooked, 0, 0, 0); }), "with 2 rows"));
}

}  // namespace segue::xl_memory_view_test
