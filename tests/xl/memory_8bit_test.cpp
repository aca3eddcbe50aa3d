#include "xl/tools/memory_8bit.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "autograd/tools/functions.hpp"
#include "tests/support/tiny_models.hpp"
#include "xl/tools/evaluation.hpp"
#include "xl/training.hpp"

namespace segue::xl_memory_8bit_test {

namespace {

constexpr Real tiny = std::numeric_limits<Real>::denorm_min();

// One layer, one row: the given states of D = 4.
Memory memory_of(const std::vector<Real>& numbers) {
  Config config = tiny_config();
  config.layers = 1;
  const Index M = static_cast<Index>(numbers.size()) / 4;
  Memory memory = empty_memory(config, 1, M);
  memory.layers[0] = Variable(Tensor({1, M, 4}, numbers));
  memory.tokens_read = {M};
  return memory;
}

// Every number of the memory within half a step of its state.
void check_within_half_a_step(const Memory& memory) {
  const EightBitMemory coded = compress(memory);
  const Memory back = expand(coded);
  for (std::size_t n = 0; n < memory.layers.size(); ++n) {
    const Tensor x = memory.layers[n].value(), y = back.layers[n].value();
    REQUIRE(y.shape() == x.shape());
    for_each_position(x.shape(), [&](const Position& p) {
      const auto state = static_cast<std::size_t>(p[0] * x.dim(1) + p[1]);
      const double step = static_cast<double>(coded.layers[n].steps[state]);
      const double error = std::abs(static_cast<double>(element(x, p)) - static_cast<double>(element(y, p)));
      CHECK(error <= step * (sizeof(Real) == 8 ? 0.5 + 1e-12 : 0.5 + 1e-5));
    });
  }
}

}  // namespace

TEST_CASE("No number is off by more than half a step of its state, whatever its size") {
  check_within_half_a_step(random_memory(tiny_config(), 3, 20, 20));
  Random random(9);
  for (int exponent = -44; exponent <= 38; exponent += 2) {
    CAPTURE(exponent);
    Memory memory = empty_memory(tiny_config(), 2, 6);
    const Real size = static_cast<Real>(std::pow(10.0, exponent));
    for (Variable& layer : memory.layers) layer = Variable(random.uniform({2, 6, 4}, -size, size));
    check_within_half_a_step(memory);
  }
}

TEST_CASE("The largest number of a state and its negative are met, and codes are spread evenly between") {
  const EightBitMemory coded =
      compress(memory_of({127, -127, 1, -1, 254, 3, -3, Real(2.9), 0, Real(0.49), Real(0.51), 127}));
  CHECK(coded.layers[0].steps == std::vector<float>{1, 2, 1});
  CHECK(coded.layers[0].codes == std::vector<std::int8_t>{127, -127, 1, -1, 127, 2, -2, 1, 0, 0, 1, 127});
  const std::vector<Real> back = expand(coded).layers[0].value().to_vector();
  CHECK(back == std::vector<Real>{127, -127, 1, -1, 254, 4, -4, 2, 0, 0, 1, 127});
}

TEST_CASE("Zeros stay zeros, and numbers below the smallest step are within half of it") {
  const Memory zeros = memory_of({0, 0, 0, 0, 0, -Real(0.0), 0, 0});
  CHECK(compress(zeros).layers[0].steps == std::vector<float>{0, 0});
  CHECK(same_bits(expand(compress(zeros)).layers[0].value(), Tensor::zeros({1, 2, 4})));
  check_within_half_a_step(memory_of({tiny, -tiny, 3 * tiny, 0}));
  for (const double largest : {1e-45, 3e-45, 2e-43, 1.78e-43, 2.7e-43, 1e-40, 1e-36, 1e-300}) {
    CAPTURE(largest);
    const Real x = static_cast<Real>(largest);
    check_within_half_a_step(memory_of({x, -x / 2, x / 3, 0}));
  }
}

TEST_CASE("Each state has D + 4 bytes, and they are counted exactly") {
  const Memory memory = random_memory(tiny_config(), 3, 5, 8);  // N = 2, B = 3, M = 5, D = 4
  CHECK(state_bytes(memory) == 2 * 3 * 5 * 4 * static_cast<Index>(sizeof(Real)));
  CHECK(state_bytes(compress(memory)) == 2 * 3 * 5 * (4 + 4));
  CHECK(state_bytes(compress(empty_memory(tiny_config(), 3, 8))) == 0);
}

TEST_CASE("What comes back has no history, and coding it again changes nothing") {
  Memory memory = random_memory(tiny_config(), 3, 5, 8);
  memory.layers[1] = tanh(parameter(memory.layers[1].value().transpose(0, 1).contiguous().transpose(0, 1)));
  memory.tokens_read = {5, 17, 2};
  const Memory once = expand(compress(memory)), twice = expand(compress(once));
  CHECK(once.limit == 8);
  CHECK(once.tokens_read == std::vector<Index>{5, 17, 2});
  for (std::size_t n = 0; n < 2; ++n) {
    CHECK_FALSE(once.layers[n].needs_gradient());
    CHECK(same_bits(once.layers[n].value(), twice.layers[n].value()));
  }
}

TEST_CASE("A row that was reset stays hidden") {
  const Memory memory = reset_rows(random_memory(tiny_config(), 3, 5, 5), {1});
  const Memory back = expand(compress(memory));
  CHECK(back.visible(0) == 5);
  CHECK(back.visible(1) == 0);
  CHECK(same_bits(back.layers[0].value().narrow(0, 1, 1), Tensor::zeros({1, 5, 4})));
}

TEST_CASE("An empty memory comes back empty") {
  const Memory back = expand(compress(empty_memory(tiny_config(), 3, 8)));
  CHECK(back.layers.size() == 2);
  CHECK(back.layers[1].shape() == Shape{3, 0, 4});
  CHECK(back.limit == 8);
  CHECK(back.tokens_read == std::vector<Index>(3, 0));
  CHECK(expand(compress(Memory())).layers.empty());
}

TEST_CASE("A state that is not finite is an error that names it, before anything is coded wrong") {
  for (const Real bad : {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity(),
                         -std::numeric_limits<Real>::infinity()}) {
    const Memory memory = random_memory(tiny_config(), 3, 5, 5);
    Tensor(memory.layers[1].value()).set_in_place({2, 3, 0}, bad);
    const std::string message = message_of<ValueError>([&] { compress(memory); });
    CHECK(holds(message, "layer 1, row 2, position 3"));
    CHECK(holds(message, std::isnan(bad) ? "a NaN" : "infinity"));
  }
  if (sizeof(Real) == 8) {
    CHECK(holds(message_of<ValueError>([] { compress(memory_of({0, static_cast<Real>(1e300), 0, 0})); }), "too large"));
  }
  check_within_half_a_step(memory_of({std::numeric_limits<float>::max(), 1, 0, -1}));
}

TEST_CASE("Codes that do not fit their shape are an error") {
  const EightBitMemory good = compress(random_memory(tiny_config(), 3, 5, 5));
  EightBitMemory bad = good;
  bad.layers[1].codes.pop_back();
  CHECK(holds(message_of<ShapeError>([&] { expand(bad); }), "59 codes and 15 steps for states [3, 5, 4]"));
  bad = good;
  bad.layers[0].steps.push_back(1);
  CHECK(holds(message_of<ShapeError>([&] { expand(bad); }), "16 steps"));
  bad = good;
  bad.tokens_read.pop_back();
  CHECK(holds(message_of<ShapeError>([&] { expand(bad); }), "for 2 rows"));
}

TEST_CASE("A model with a memory of 8 bits hands on what comes back from the codes, and predicts nearly the same") {
  TransformerXL model = random_model(tiny_config());
  const EightBitMemoryModel coded(model);
  const Memory memory = random_memory(model.config, 2, 5, 5);
  const Tokens tokens = random_tokens(2, 4, 7);
  const Output a = model(tokens, memory, Mode::evaluate()), b = coded(tokens, memory, Mode::evaluate());
  CHECK(same_bits(a.logits.value(), b.logits.value()));  // the memory is read as it comes in
  for (std::size_t n = 0; n < 2; ++n) {
    CHECK(same_bits(b.memory.layers[n].value(), expand(compress(a.memory)).layers[n].value()));
  }
  std::vector<Index> text = random_tokens(1, 200, 7).ids;
  const double plain = evaluate(model, text, 4, 5).nats, eight = evaluate(coded, text, 4, 5).nats;
  CHECK(plain != eight);
  CHECK(std::abs(plain - eight) < 0.02);
}

TEST_CASE("A model with a memory of 8 bits trains the weights of the model it stands for") {
  TransformerXL model = random_model(tiny_config());
  EightBitMemoryModel coded(model);
  const std::vector<Tensor> before = parameter_values(model);
  Adam optimizer(parameters(coded));
  TrainingState state = {0, empty_memory(model.config, 2, 5), Random(1)};
  TrainingOptions options;
  options.steps = 3;
  options.learning_rate = [](Index) { return Real(0.01); };
  train(
      coded, optimizer, state,
      [] {
        return Batch{random_tokens(2, 3, 7, 1), random_tokens(2, 3, 7, 2), {}};
      },
      options);
  CHECK_FALSE(same_bits(before, parameter_values(model)));
  for (const Variable& layer : state.memory.layers) CHECK(layer.label() == "8 bits");
}

TEST_CASE("Where the gradient is to run on through the memory, a memory of codes is an error") {
  Config config = tiny_config();
  config.stop_memory_gradient = false;
  TransformerXL model = random_model(config);
  CHECK(holds(message_of<ValueError>([&] { EightBitMemoryModel{model}; }), "codes pass no gradient"));
}

}  // namespace segue::xl_memory_8bit_test
