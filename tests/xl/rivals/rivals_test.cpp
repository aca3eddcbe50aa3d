// What must hold of a model with any position encoding, and what each of them promises or breaks.
#include <doctest/doctest.h>

#include <set>

#include "autograd/backward.hpp"
#include "tests/xl/rivals/tiny_rivals.hpp"
#include "xl/tools/generation.hpp"

namespace segue::xl_rivals_test {

namespace {

constexpr Index B = 3, L = 11;

std::vector<Config> some_configs() {
  Config plain = tiny_config(), other = tiny_config();
  other.pre_norm = true;
  other.tie_weights = false;
  other.same_length = true;
  other.memory_length = L;
  return {plain, other};
}

bool differ(const Tensor& a, const Tensor& b) {
  double largest = 0;
  const std::vector<Real> x = a.to_vector(), y = b.to_vector();
  for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(static_cast<double>(x[i] - y[i])));
  return largest > 1e-4;
}

bool is_absolute(const Encoding& e) {
  return e.scheme == Scheme::sinusoids_running || e.scheme == Scheme::learned_absolute;
}

}  // namespace

TEST_CASE("With all four terms the rival is Transformer-XL, bit for bit, dropout included") {
  for (Config config : all_variants()) {
    config.dropout = Real(0.2);
    config.attention_dropout = Real(0.1);
    Random random(3), same(3);
    TransformerXL model(config, random);
    RivalTransformer rival(config, Encoding(), same);
    const std::vector<Parameter> a = parameters(model), b = parameters(rival);
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      CHECK(a[i].name == b[i].name);
      CHECK(same_bits(a[i].variable.value(), b[i].variable.value()));
    }
    const Tokens tokens = random_tokens(2, 4, 7);
    Memory memory = reset_rows(random_memory(config, 2, 3, 5), {1});
    const Output x = model(tokens, memory, Mode::train(random)), y = rival(tokens, memory, Mode::train(same));
    CHECK(same_bits(x.logits.value(), y.logits.value()));
    CHECK(same_bits(x.memory.layers[1].value(), y.memory.layers[1].value()));
    CHECK(x.memory.tokens_read == y.memory.tokens_read);
  }
}

TEST_CASE("The comparison takes the plain Transformer-XL, and a rival for everything else") {
  for (Encoding encoding : tiny_encodings(5, true)) {
    CAPTURE(encoding_name(encoding));
    Random random(1);
    const std::unique_ptr<LanguageModel> model = make_model(tiny_config(), encoding, random);
    const bool plain = encoding_name(encoding) == "transformer_xl";
    CHECK((dynamic_cast<TransformerXL*>(model.get()) != nullptr) == plain);
    CHECK((dynamic_cast<RivalTransformer*>(model.get()) != nullptr) != plain);
  }
}

TEST_CASE(
    "Every parameter of every rival has the gradient of central differences, behind an empty memory and a full one") {
  if (sizeof(Real) != 8) return;
  for (const Encoding& encoding : tiny_encodings(4, true)) {
    for (const Index M : {0, 3}) {
      Config config = tiny_config();
      config.layers = 1 + M / 3;
      config.pre_norm = M == 0;
      config.tie_weights = M != 0;
      RivalTransformer model = random_rival(config, encoding);
      Memory memory = random_memory(config, 2, M, 5);
      if (M > 0) memory = reset_rows(memory, {1});
      const Tokens tokens = random_tokens(2, 3, 7), targets = random_tokens(2, 3, 7, 6);
      const auto loss = [&](const std::vector<Variable>& v) {
        std::size_t next = 0;
        model.visit_parameters("", [&](const std::string&, Variable& p) { p = v[next++]; });
        return mean_cross_entropy(model(tokens, memory, Mode::evaluate()).logits, targets).loss;
      };
      std::vector<Tensor> values;
      for (const Parameter& p : parameters(model)) values.push_back(p.variable.value());
      const GradientCheck check = check_gradient(loss, values);
      CAPTURE(encoding_name(encoding));
      CAPTURE(M);
      CAPTURE(to_string(check));
      CHECK(check.error < 1e-7);
    }
  }
}

TEST_CASE("Parameters have names of their own, and each gets a gradient unless its term is off") {
  for (const Encoding& encoding : tiny_encodings(4, true)) {
    CAPTURE(encoding_name(encoding));
    RivalTransformer model = random_rival(tiny_config(), encoding);
    const Output output = model(random_tokens(2, 4, 7), random_memory(model.config, 2, 3, 5), Mode::evaluate());
    backward(mean_cross_entropy(output.logits, random_tokens(2, 4, 7, 6)).loss);
    std::set<std::string> names;
    const bool all_terms = encoding.term_a && encoding.term_b && encoding.term_c && encoding.term_d;
    for (const Parameter& p : parameters(model)) {
      CAPTURE(p.name);
      CHECK(names.insert(p.name).second);
      if (all_terms) CHECK_FALSE(same_bits(p.variable.gradient(), Tensor::zeros(p.variable.shape())));
    }
    CHECK(names.contains("position_table") == (encoding.scheme == Scheme::learned_absolute));
    CHECK(names.contains("u") == (encoding.scheme == Scheme::transformer_xl));
    CHECK(names.contains("layers.1.attention.a_V") == (encoding.scheme == Scheme::shaw));
    CHECK(names.contains("layers.1.attention.d") == (encoding.scheme == Scheme::learned_relative));
    CHECK(names.contains("layers.1.attention.w_v_R") == encoding.position_in_values);
  }
}

TEST_CASE("Any cut gives the logits of one long pass, but for sinusoids that restart with it") {
  for (const Config& config : some_configs()) {
    for (const Encoding& encoding : tiny_encodings(L, false)) {
      CAPTURE(encoding_name(encoding));
      const RivalTransformer model = random_rival(config, encoding);
      const Tokens tokens = random_tokens(B, L, 7);
      const Tensor whole = logits_in_pieces(model, tokens, {L}, L);
      for (const std::vector<Index>& cut : {std::vector<Index>{4, 7}, {1, 1, 5, 4}, {10, 1}}) {
        const Tensor logits = logits_in_pieces(model, tokens, cut, L);
        if (encoding.scheme == Scheme::sinusoids_restarting) {
          CHECK(differ(logits, whole));
        } else {
          check_close(logits, whole, rounding);
        }
      }
    }
  }
}

TEST_CASE("Moving a text along the axis changes nothing, but for absolute positions that run on") {
  for (const Encoding& encoding : tiny_encodings(L + 9, false)) {
    CAPTURE(encoding_name(encoding));
    const RivalTransformer model = random_rival(tiny_config(), encoding);
    const Tokens tokens = random_tokens(B, L, 7);
    const Tensor at_start = logits_in_pieces(model, tokens, {6, 5}, 5);
    Memory later = empty_memory(model.config, B, 5);
    later.tokens_read = {9, 9, 9};
    const Tensor moved = logits_in_pieces(model, tokens, {6, 5}, later);
    if (is_absolute(encoding)) {
      CHECK(differ(moved, at_start));
    } else {
      check_close(moved, at_start, rounding);
    }
  }
}

TEST_CASE("A later token never changes an earlier logit of any rival, nor a row another row, bit for bit") {
  for (const Encoding& encoding : tiny_encodings(5, true)) {
    CAPTURE(encoding_name(encoding));
    const RivalTransformer model = random_rival(tiny_config(), encoding);
    const Tokens tokens = random_tokens(B, L, 7);
    const Tensor before = logits_in_pieces(model, tokens, {4, 7}, 5);
    for (Index t = 0; t < L; ++t) {
      Tokens changed = tokens;
      changed[L + t] = (changed[L + t] + 1) % 7;  // row 1
      const Tensor after = logits_in_pieces(model, changed, {4, 7}, 5);
      CHECK(same_bits(after.narrow(1, 0, t), before.narrow(1, 0, t)));
      CHECK_FALSE(same_bits(after.narrow(1, t, 1), before.narrow(1, t, 1)));
      for (const Index row : {0, 2}) CHECK(same_bits(after.narrow(0, row, 1), before.narrow(0, row, 1)));
    }
  }
}

TEST_CASE("A row of any rival after a reset gives the logits of that row alone") {
  for (const Config& config : some_configs()) {
    for (const Encoding& encoding : tiny_encodings(L + 5, false)) {
      CAPTURE(encoding_name(encoding));
      const RivalTransformer model = random_rival(config, encoding);
      const Tokens tokens = random_tokens(B, L, 7);
      Memory memory = reset_rows(random_memory(config, B, 5, 6), {0, 2});
      const Tensor together = logits_in_pieces(model, tokens, {3, 2, 4, 2}, memory);
      for (const Index row : {0, 2}) {
        check_close(together.narrow(0, row, 1), logits_in_pieces(model, row_of(tokens, row), {3, 2, 4, 2}, 6),
                    rounding);
      }
    }
  }
}

TEST_CASE("One token at a time, without memory, and no token at all are ordinary segments for all rivals") {
  for (const Encoding& encoding : tiny_encodings(L, false)) {
    CAPTURE(encoding_name(encoding));
    const RivalTransformer model = random_rival(tiny_config(), encoding);
    const Tokens tokens = random_tokens(B, L, 7);
    const std::vector<Index> ones(static_cast<std::size_t>(L), 1);
    if (encoding.scheme != Scheme::sinusoids_restarting) {
      check_close(logits_in_pieces(model, tokens, ones, L), logits_in_pieces(model, tokens, {L}, L), rounding);
    }
    const Tensor alone = logits_in_pieces(model, tokens, {4, 4, 3}, 0);
    CHECK(alone.shape() == Shape{B, L, 7});
    CHECK(same_bits(alone.narrow(1, 0, 4), logits_in_pieces(model, columns(tokens, 0, 4), {4}, 0)));
    const Memory memory = random_memory(model.config, 2, 3, 5);
    const Output output = model(Tokens({2, 0}), memory, Mode::evaluate());
    CHECK(output.logits.shape() == Shape{2, 0, 7});
    CHECK(output.memory.tokens_read == memory.tokens_read);
  }
}

TEST_CASE("Restarting sinusoids give equal scores to the same token at the same place of two segments") {
  const Tokens tokens({1, 4}, {1, 2, 3, 2});
  const auto scores_of = [&](const char* name) {
    const RivalTransformer model = random_rival(tiny_config(), encoding_named(name));
    const Memory memory = model(tokens, empty_memory(model.config, 1, 4), Mode::evaluate()).memory;
    const Variable h = model.embed(tokens, memory);
    const Variable context = concat({memory.layers[0], h}, 1);
    return model.layers[0].attention.scores(h, context, model.pass(4, memory, Mode::evaluate())).value();
  };
  for (const char* name : {"sinusoids_restarting", "none"}) {
    const Tensor scores = scores_of(name);
    CHECK(same_bits(scores.narrow(3, 0, 4), scores.narrow(3, 4, 4)));
  }
  for (const char* name : {"sinusoids_running", "transformer_xl", "shaw", "learned_relative", "learned_absolute"}) {
    CAPTURE(name);
    const Tensor scores = scores_of(name);  // of the last query, which sees all keys
    CHECK(differ(scores.narrow(2, 3, 1).narrow(3, 0, 4), scores.narrow(2, 3, 1).narrow(3, 4, 4)));
  }
}

TEST_CASE("A learned table of positions that is read beyond its end is an error of the call, or clamps") {
  Encoding encoding = encoding_named("learned_absolute");
  encoding.rows = 6;
  const RivalTransformer strict = random_rival(tiny_config(), encoding);
  const Tokens tokens = random_tokens(1, 10, 7);
  CHECK(logits_in_pieces(strict, tokens, {6}, 5).dim(1) == 10 - 4);
  CHECK(holds(thrown_by<RangeError>([&] { logits_in_pieces(strict, tokens, {4, 3}, 5); }), "position 6"));
  encoding.clamp = true;
  const RivalTransformer clamped = random_rival(tiny_config(), encoding);
  CHECK(same_bits(logits_in_pieces(clamped, tokens, {6}, 5), logits_in_pieces(strict, tokens, {6}, 5)));
  CHECK(logits_in_pieces(clamped, tokens, {4, 3, 3}, 5).dim(1) == 10);
}

TEST_CASE("Distances beyond the tables of any size above the longest distance change nothing") {
  for (const char* name : {"shaw", "learned_relative"}) {
    Encoding encoding = encoding_named(name);
    encoding.rows = 3;
    const Tokens tokens = random_tokens(1, L, 7);
    const RivalTransformer clipped = random_rival(tiny_config(), encoding);
    encoding.rows = 2 * L;
    RivalTransformer full = random_rival(tiny_config(), encoding);
    // The long table repeats the last row of the short one.
    std::vector<Parameter> from, to = parameters(full);
    RivalTransformer copy = random_rival(tiny_config(), clipped.encoding);
    from = parameters(copy);
    for (std::size_t i = 0; i < to.size(); ++i) {
      Tensor value = from[i].variable.value();
      for (int axis = 0; axis < value.rank(); ++axis) {
        if (value.dim(axis) == to[i].variable.dim(axis)) continue;
        while (value.dim(axis) < 2 * L) value = concat({value, value.narrow(axis, 2, 1)}, axis);
      }
      to[i].variable.set_value(value);
    }
    check_close(logits_in_pieces(clipped, tokens, {6, 5}, L), logits_in_pieces(full, tokens, {6, 5}, L), rounding);
  }
}

TEST_CASE("A rival can be generated from, and wrong numbers are said at the start") {
  Random random(1);
  const RivalTransformer model = random_rival(tiny_config(), encoding_named("shaw"));
  Generator generator(model, 8);
  generator.read({1, 2, 3});
  CHECK(generator.next({}, random) < 7);
  Encoding encoding = encoding_named("shaw");
  encoding.rows = 0;
  CHECK(holds(thrown_by<ValueError>([&] { make_model(tiny_config(), encoding, random); }), "rows"));
  Config config = tiny_config();
  config.heads = 0;
  CHECK(holds(thrown_by<ValueError>([&] { make_model(config, encoding_named("none"), random); }), "heads"));
  CHECK(holds(thrown_by<ShapeError>([&] { model(Tokens({4}), empty_memory(model.config, 1, 4), Mode::evaluate()); }),
              "expected [1, T]"));
}

}  // namespace segue::xl_rivals_test
