#include "xl/tools/dialogue.hpp"

#include <doctest/doctest.h>

#include "tests/support/tiny_models.hpp"

namespace segue::xl_dialogue_test {

namespace {

DialogueOptions options_of(Index memory_length = 200) {
  DialogueOptions options;
  options.marks = {0, 1, 2};
  options.memory_length = memory_length;
  options.turn_length = 5;
  return options;
}

const std::vector<std::vector<Index>> turns = {{3}, {4, 5}, {6, 6, 3, 4, 5}, {3}, {5, 3, 6}, {4}};

std::vector<Index> joined(const std::vector<Index>& a, const std::vector<Index>& b) {
  std::vector<Index> all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

}  // namespace

TEST_CASE("A reply, and the logits behind it, are those of reading the whole history again") {
  for (const Config& config : all_variants()) {
    if (config.same_length) continue;  // its memory of 200 and one of the history's length would differ in their window
    CAPTURE(to_string(config));
    const TransformerXL model = random_model(config);
    for (const Sampling& sampling : {Sampling{.temperature = 0}, Sampling{}}) {
      DialogueOptions options = options_of();
      options.sampling = sampling;
      Dialogue dialogue(model, options, 9);
      Random random(9);
      std::vector<Index> history;
      for (const std::vector<Index>& turn : turns) {
        history = joined(joined(joined(history, {0}), turn), {2, 1});
        std::vector<Index> reply;
        while (true) {  // one long pass over everything for each token
          const Index L = static_cast<Index>(history.size());
          const Tensor all = logits_in_pieces(model, Tokens({1, L}, history), {L}, L);
          const bool full = reply.size() == 5;
          const Index token = full ? 2 : sample(all.narrow(1, L - 1, 1).reshape({-1}), sampling, random);
          history.push_back(token);
          if (token == 2) break;
          reply.push_back(token);
        }
        CHECK(dialogue.say(turn) == reply);
        const Index L = static_cast<Index>(history.size());
        const Tensor whole = logits_in_pieces(model, Tokens({1, L}, history), {L}, L).narrow(1, L - 1, 1);
        check_close(dialogue.logits(), whole.reshape({-1}), rounding);
        CHECK(dialogue.tokens_read() == L);
      }
    }
  }
}

TEST_CASE("Unless told otherwise a dialogue remembers as much as the model did in training, also after forgetting") {
  const TransformerXL model = random_model(tiny_config());
  DialogueOptions silent = options_of();
  silent.memory_length.reset();
  Dialogue dialogue(model, silent), same(model, options_of(model.config.memory_length)), without(model, options_of(0));
  for (int round = 0; round < 2; ++round) {
    for (const std::vector<Index>& turn : turns) {
      const std::vector<Index> reply = dialogue.say(turn);
      CHECK(same.say(turn) == reply);
      without.say(turn);
    }
    CHECK(same_bits(dialogue.logits(), same.logits()));
    CHECK_FALSE(same_bits(dialogue.logits(), without.logits()));
    dialogue.forget();
    same.forget();
    without.forget();
  }
}

TEST_CASE("A turn costs its own tokens and the marks, however long the dialogue has lasted") {
  const TransformerXL model = random_model(tiny_config());
  Dialogue dialogue(model, options_of(6));
  std::int64_t nodes = 0;  // the memory of each layer and what is kept of it, once that has reached its limit
  for (int n = 0; n < 50; ++n) {
    if (n == 5) nodes = live_node_count();
    const Index before = dialogue.tokens_read();
    const std::vector<Index> reply = dialogue.say({3, 4});
    CHECK(dialogue.tokens_read() - before == 2 + static_cast<Index>(reply.size()) + 4);
  }
  CHECK(dialogue.turns() == 50);
  CHECK(live_node_count() == nodes);
}

TEST_CASE("A reply ends before the mark, or after turn_length words, and the next turn begins as any other") {
  const Config config = tiny_config();
  TransformerXL model = random_model(config);
  const auto always = [&](Index token) {
    Tensor bias = Tensor::zeros({7});
    bias.set_in_place({token}, 100);
    model.output_bias.set_value(bias);
  };
  always(2);
  Dialogue silent(model, options_of());
  CHECK(silent.say({3}).empty());
  CHECK(silent.tokens_read() == 5);
  always(6);
  Dialogue endless(model, options_of());
  CHECK(endless.say({3}) == std::vector<Index>{6, 6, 6, 6, 6});
  CHECK(endless.tokens_read() == 10);  // <you> 3 <end> <me> 6 6 6 6 6 <end>
}

TEST_CASE("After turn_limit turns a dialogue refuses, until it forgets and is as new") {
  const TransformerXL model = random_model(tiny_config());
  DialogueOptions options = options_of();
  options.turn_limit = 2;
  Dialogue dialogue(model, options);
  const std::vector<Index> first = dialogue.say({3, 4});
  const Tensor logits = dialogue.logits().clone();
  dialogue.say({5});
  CHECK(holds(message_of<ValueError>([&] { dialogue.say({3}); }), "all 2 turns are taken"));
  dialogue.forget();
  CHECK(dialogue.turns() == 0);
  CHECK(dialogue.tokens_read() == 0);
  CHECK(dialogue.say({3, 4}) == first);
  CHECK(same_bits(dialogue.logits(), logits));
}

TEST_CASE("A turn that cannot be said changes nothing") {
  const TransformerXL model = random_model(tiny_config());
  DialogueOptions options = options_of();
  options.sampling.temperature = 1;
  Dialogue dialogue(model, options, 4), twin(model, options, 4);
  dialogue.say({3, 4});
  twin.say({3, 4});
  CHECK(holds(message_of<ValueError>([&] { dialogue.say({}); }), "at least one word"));
  CHECK(holds(message_of<ValueError>([&] { dialogue.say({3, 3, 3, 3, 3, 3}); }), "6 words; at most 5"));
  CHECK(holds(message_of<ValueError>([&] { dialogue.say({3, 1}); }), "token 1 is a mark"));
  CHECK_THROWS_AS(dialogue.say({3, 7}), RangeError);
  CHECK_THROWS_AS(dialogue.say({3, -1}), RangeError);
  CHECK(dialogue.turns() == 1);
  CHECK(dialogue.say({5}) == twin.say({5}));
  CHECK(same_bits(dialogue.logits(), twin.logits()));
}

TEST_CASE("Marks that are equal or no tokens, and limits below 1, are errors") {
  const TransformerXL model = random_model(tiny_config());
  const auto wrong = [&](const std::function<void(DialogueOptions&)>& change) {
    DialogueOptions options = options_of();
    change(options);
    CHECK_THROWS_AS(Dialogue(model, options), ValueError);
  };
  wrong([](DialogueOptions& o) { o.marks = {0, 0, 2}; });
  wrong([](DialogueOptions& o) { o.marks = {0, 1, 7}; });
  wrong([](DialogueOptions& o) { o.marks = {-1, 1, 2}; });
  wrong([](DialogueOptions& o) { o.turn_length = 0; });
  wrong([](DialogueOptions& o) { o.turn_limit = 0; });
  wrong([](DialogueOptions& o) { o.memory_length = -1; });
}

}  // namespace segue::xl_dialogue_test
