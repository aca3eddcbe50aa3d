#include "xl/model.hpp"

#include <doctest/doctest.h>

#include <set>
#include <type_traits>

#include "autograd/backward.hpp"
#include "autograd/matmul.hpp"
#include "autograd/relu.hpp"
#include "nn/optimizer.hpp"
#include "nn/tools/layer_norm_plain.hpp"
#include "tests/support/tiny_models.hpp"
#include "xl/sinusoids.hpp"

namespace segue::xl_model_test {

namespace {

Pass pass_of_model(const TransformerXL& model, Index T, const Memory& memory, const Mode& mode = Mode::evaluate()) {
  const Config& c = model.config;
  const Variable R(distance_sinusoids(memory.length() + T, c.clamp_length, c.width));
  return pass_of(c, R, model.u, model.v, T, memory, mode);
}

// The paper's layer in the words of its equations, with layer norm by definition.
Variable layer_by_equations(const Layer& layer, const Variable& h, const Variable& m, const Pass& pass) {
  const auto norm = [](const LayerNorm& n, const Variable& x) { return layer_norm_plain(x, n.gain, n.bias); };
  const auto feed_forward = [&](const Variable& x) {
    const FeedForward& f = layer.feed_forward;
    return matmul(relu(matmul(x, f.inner.w) + f.inner.b), f.outer.w) + f.outer.b;
  };
  const auto attention = [&](const Variable& x, const Variable& before) {
    const KeysValues context = join(layer.attention.project(before), layer.attention.project(x));
    return layer.attention(x, context, layer.attention.project_distances(pass.R), pass);
  };
  if (pass.config.pre_norm) {
    const Variable queries = norm(layer.attention_norm, h), before = norm(layer.attention_norm, m);
    const Variable a = h + attention(queries, before);
    return a + feed_forward(norm(layer.feed_forward_norm, a));
  }
  const Variable a = norm(layer.attention_norm, h + attention(h, m));
  return norm(layer.feed_forward_norm, a + feed_forward(a));
}

}  // namespace

TEST_CASE("A layer is attention and feed-forward, each with a residual path and a norm before or behind") {
  for (const bool pre_norm : {false, true}) {
    Config config = tiny_config();
    config.pre_norm = pre_norm;
    const TransformerXL model = random_model(config);
    for (const Index M : {0, 3}) {
      const Memory memory = random_memory(config, 2, M, 5);
      const Pass pass = pass_of_model(model, 4, memory);
      const Variable h(random_tensor({2, 4, 4}));
      check_close(model.layers[0](h, memory.layers[0], pass).value(),
                  layer_by_equations(model.layers[0], h, memory.layers[0], pass).value(), rounding);
    }
  }
}

TEST_CASE("The model is embedding, layers and output, and remembers what each layer read") {
  for (const Config& config : all_variants()) {
    const TransformerXL model = random_model(config);
    const Tokens tokens = random_tokens(2, 4, 7);
    const Memory memory = random_memory(config, 2, 3, 5);
    const Pass pass = pass_of_model(model, 4, memory);
    const Output output = model(tokens, memory, Mode::evaluate());
    Variable h = scale(model.embedding(tokens), std::sqrt(Real(4)));
    for (std::size_t n = 0; n < 2; ++n) {
      check_close(output.memory.layers[n].value(), concat({memory.layers[n], h}, 1).value().narrow(1, 2, 5), rounding);
      h = layer_by_equations(model.layers[n], h, memory.layers[n], pass);
    }
    const Variable& table = config.tie_weights ? model.embedding.table : model.output_weight;
    check_close(output.logits.value(), (matmul(h, transpose(table, 0, 1)) + model.output_bias).value(), rounding);
  }
}

TEST_CASE("Forward is pure: the same call gives the same bits, and the memory that went in stays") {
  const TransformerXL model = random_model(tiny_config());
  const Memory memory = random_memory(model.config, 2, 3, 5);
  const Tensor before = memory.layers[0].value().clone();
  const Tokens tokens = random_tokens(2, 4, 7);
  const Tensor once = model(tokens, memory, Mode::evaluate()).logits.value();
  CHECK(same_bits(model(tokens, memory, Mode::evaluate()).logits.value(), once));
  CHECK(same_bits(memory.layers[0].value(), before));
  CHECK(memory.length() == 3);
}

TEST_CASE("Each parameter has one name, in a fixed order; a tied output weight is the embedding") {
  for (const Config& config : all_variants()) {
    TransformerXL model = random_model(config);
    std::set<std::string> names;
    std::set<const Node*> nodes;
    for (const Parameter& p : parameters(model)) {
      CHECK(names.insert(p.name).second);
      CHECK(nodes.insert(&p.variable.node()).second);
    }
    CHECK(names.contains("embedding.table"));
    CHECK(names.contains("layers.1.attention.w_k_E"));
    CHECK(names.contains("layers.0.feed_forward_norm.gain"));
    CHECK(names.contains("output_weight") != config.tie_weights);
    CHECK((model.output_weight.shared_node() == model.embedding.table.shared_node()) == config.tie_weights);
    const Index D = 4, F = 5, V = 7, HDh = 6;
    const Index layer = 5 * D * HDh + 4 * D + 2 * D * F + F + D;
    CHECK(parameter_count(parameters(model)) == V * D * (config.tie_weights ? 1 : 2) + V + 2 * HDh + 2 * layer);
  }
}

TEST_CASE("Every parameter gets a gradient") {
  for (const Config& config : all_variants()) {
    TransformerXL model = random_model(config);
    const Output output = model(random_tokens(2, 4, 7), random_memory(config, 2, 3, 5), Mode::evaluate());
    backward(mean_cross_entropy(output.logits, random_tokens(2, 4, 7, 6)).loss);
    for (const Parameter& p : parameters(model)) {
      CAPTURE(p.name);
      CHECK_FALSE(same_bits(p.variable.gradient(), Tensor::zeros(p.variable.shape())));
    }
  }
}

TEST_CASE("The same seed gives the same model, another one another") {
  const auto values = [](std::uint64_t seed) {
    Random random(seed);
    TransformerXL model(tiny_config(), random);
    return parameter_values(model);
  };
  CHECK(same_bits(values(1), values(1)));
  CHECK_FALSE(same_bits(values(1), values(2)));
}

TEST_CASE("Dropout works in training only, and again after an evaluation") {
  Config config = tiny_config();
  const TransformerXL without = random_model(config);
  config.dropout = Real(0.3);
  config.attention_dropout = Real(0.2);
  const TransformerXL model = random_model(config);  // the same weights
  const Tokens tokens = random_tokens(2, 4, 7);
  const Memory memory = random_memory(config, 2, 3, 5);
  Random random(1), same(1);
  const auto run = [&](const Mode& mode) { return model(tokens, memory, mode).logits.value(); };
  const Tensor first = run(Mode::train(random)), evaluated = run(Mode::evaluate()), second = run(Mode::train(random));
  CHECK(same_bits(evaluated, without(tokens, memory, Mode::evaluate()).logits.value()));
  CHECK_FALSE(same_bits(first, evaluated));
  CHECK_FALSE(same_bits(first, second));
  CHECK(same_bits(run(Mode::train(same)), first));
  CHECK(same_bits(run(Mode::evaluate()), evaluated));
}

TEST_CASE("Dropout takes from the sub-layers, never from the residual path") {
  for (const bool pre_norm : {false, true}) {
    Config config = tiny_config();
    config.pre_norm = pre_norm;
    config.dropout = Real(0.999999);  // all that can go is gone
    const TransformerXL model = random_model(config);
    const Layer& layer = model.layers[0];
    const Memory memory = random_memory(config, 2, 3, 5);
    const Variable h(random_tensor({2, 4, 4}));
    Random random(1);
    const Variable z = model.layers[0](h, memory.layers[0], pass_of_model(model, 4, memory, Mode::train(random)));
    CHECK(same_bits(z.value(), (pre_norm ? h : layer.feed_forward_norm(layer.attention_norm(h))).value()));
  }
}

TEST_CASE("A segment of no tokens has no logits and leaves the memory as it is") {
  const TransformerXL model = random_model(tiny_config());
  for (const Index M : {0, 3}) {
    const Memory memory = random_memory(model.config, 2, M, 5);
    const Output output = model(Tokens({2, 0}), memory, Mode::evaluate());
    CHECK(output.logits.shape() == Shape{2, 0, 7});
    CHECK(same_bits(output.memory.layers[1].value(), memory.layers[1].value()));
    CHECK(output.memory.tokens_read == memory.tokens_read);
  }
}

TEST_CASE("Tokens that do not fit the memory or the vocabulary, and a config without sense, are errors") {
  const TransformerXL model = random_model(tiny_config());
  const Memory memory = empty_memory(model.config, 2, 5);
  const auto error = [&](const Tokens& tokens, const Memory& m) {
    return thrown_by<ShapeError>([&] { model(tokens, m, Mode::evaluate()); });
  };
  CHECK(holds(error(Tokens({10, 4}), memory), "tokens [10, 4] with a memory of 2 rows"));
  CHECK(holds(error(Tokens({4}), memory), "expected [2, T]"));
  CHECK(holds(error(Tokens({2, 4}), Memory()), "0 rows"));
  Config config = tiny_config();
  config.layers = 3;
  CHECK(holds(error(Tokens({2, 4}), empty_memory(config, 2, 5)), "3 layers"));
  config = tiny_config();
  config.width = 6;
  CHECK(holds(error(Tokens({2, 4}), empty_memory(config, 2, 5)), "[2, 0, 6]"));
  Memory uneven = random_memory(tiny_config(), 2, 3, 5);
  uneven.layers[1] = Variable(Tensor::zeros({2, 2, 4}));
  CHECK(holds(error(Tokens({2, 4}), uneven), "[2, 2, 4]; expected [2, 3, 4]"));
  uneven.layers[1] = Variable(Tensor::zeros({2, 5000, 4}));
  CHECK(holds(error(Tokens({2, 4}), uneven), "[2, 5000, 4]; expected [2, 3, 4]"));
  for (const Index wrong : {Index(7), Index(-1), Index(-100)}) {
    const Tokens tokens({2, 1}, {0, wrong});
    CHECK(holds(thrown_by<RangeError>([&] { model(tokens, memory, Mode::evaluate()); }), std::to_string(wrong)));
  }
  config.heads = 0;
  Random random(1);
  CHECK(holds(thrown_by<ValueError>([&] { TransformerXL(config, random); }), "heads"));
}

TEST_CASE("a window of the memory's length needs a memory") {
  Config config = tiny_config();
  config.same_length = true;
  const TransformerXL model = random_model(config);
  const Memory none = empty_memory(config, 1, 0);
  CHECK_THROWS_AS(model(random_tokens(1, 3, config.vocabulary), none, Mode::evaluate()), ValueError);
}

TEST_CASE("A clone has the same weights and shares none of them") {
  for (const bool tied : {true, false}) {
    Config config = tiny_config();
    config.tie_weights = tied;
    TransformerXL model = random_model(config);
    TransformerXL best = model.clone();
    const Tokens tokens = random_tokens(1, 4, 7);
    const auto logits = [&](const TransformerXL& m) {
      return m(tokens, empty_memory(config, 1, 5), Mode::evaluate()).logits.value();
    };
    const Tensor before = logits(best);
    CHECK(same_bits(before, logits(model)));
    CHECK(parameters(best).size() == parameters(model).size());
    Adam optimizer(parameters(model));
    for (Parameter& p : optimizer.parameters) p.variable.set_gradient(Tensor::full(p.variable.shape(), 1));
    optimizer.step(Real(0.1));
    CHECK_FALSE(same_bits(before, logits(model)));
    CHECK(same_bits(before, logits(best)));
  }
  CHECK_FALSE(std::is_copy_constructible_v<TransformerXL>);
}

TEST_CASE("A change to the config holds for all layers at once") {
  Config config = tiny_config();
  TransformerXL model = random_model(config);
  config.pre_norm = true;
  config.dropout = Real(0.5);
  const TransformerXL other = random_model(config);  // the same weights
  model.config = config;
  const Tokens tokens = random_tokens(2, 4, 7);
  const Memory memory = random_memory(config, 2, 5, 5);
  Random a(1);
  Random b(1);
  CHECK(same_bits(model(tokens, memory, Mode::train(a)).logits.value(),
                  other(tokens, memory, Mode::train(b)).logits.value()));
}

TEST_CASE("A count of tokens read at either end of its range is an error, not an overflow") {
  const TransformerXL model = random_model(tiny_config());
  for (const Index read : {std::numeric_limits<Index>::max() - 3, std::numeric_limits<Index>::min()}) {
    Memory memory = random_memory(model.config, 1, 5, 5);
    memory.tokens_read = {read};
    CHECK_THROWS_AS(model(random_tokens(1, 4, 7), memory, Mode::evaluate()), ValueError);
  }
}

}  // namespace segue::xl_model_test
