#include "xl/tools/gradient_flow.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "autograd/backward.hpp"
#include "nn/optimizer.hpp"
#include "tensor/elementwise.hpp"
#include "tests/support/tiny_models.hpp"
#include "xl/tools/memory_view.hpp"

namespace segue::xl_gradient_flow_test {

namespace {

// Two rows of ten tokens and their targets, no token twice: its row of the embedding is the state of one place alone.
// The output weights are others, so nothing else depends on that row.
Config config_of(bool stop, Index M) {
  Config config = tiny_config();
  config.vocabulary = 22;
  config.tie_weights = false;
  config.stop_memory_gradient = stop;
  config.memory_length = M;
  return config;
}
Reading two_rows(Index T, Index M) {
  Tokens text({2, 11});
  for (Index t = 0; t < text.size(); ++t) text[t] = t;
  return {text, T, M};
}

// The norm of central differences of `loss` in the state at each distance, the mean over both rows. A step in the
// embedding is one of sqrt(D) = 2 in the state.
template <class Loss>
std::vector<double> differences(const TransformerXL& model, const Loss& loss) {
  constexpr double step = 1e-5;
  const Variable table = model.embedding.table;
  const Tensor before = table.value().clone();
  std::vector<double> norms;
  for (Index distance = 0; distance < 10; ++distance) {
    double total = 0;
    for (const Index token : {9 - distance, 20 - distance}) {
      double squares = 0;
      for (Index d = 0; d < 4; ++d) {
        const auto loss_at = [&](double value) {
          Tensor moved = before.clone();
          moved.set_in_place({token, d}, static_cast<Real>(value));
          Variable(table).set_value(moved);
          return loss();
        };
        const double middle = static_cast<double>(before.at({token, d}));
        squares += std::pow((loss_at(middle + step) - loss_at(middle - step)) / (2 * 2 * step), 2);
      }
      total += std::sqrt(squares);
    }
    norms.push_back(total / 2);
  }
  Variable(table).set_value(before);
  return norms;
}

double total(const Tensor& x) { return static_cast<double>(sum(Variable(x)).item()); }
Variable losses_of(const LanguageModel& model, const Reading& reading) {
  return last_losses(last_logits(model, reading), reading);
}
double total_loss(const TransformerXL& model, const Reading& reading) {
  return total(losses_of(model, reading).value());
}

Index farthest(const std::vector<double>& values) {
  Index last = -1;
  for (std::size_t d = 0; d < values.size(); ++d) {
    if (values[d] != 0) last = static_cast<Index>(d);
  }
  return last;
}
void check_equal(const std::vector<double>& got, const std::vector<double>& expected, double tolerance) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t d = 0; d < got.size(); ++d) {
    CAPTURE(d);
    CHECK(std::abs(got[d] - expected[d]) <= tolerance);
  }
}

}  // namespace

TEST_CASE("Without the stop-gradient, gradients by distance are central differences through all segments") {
  for (const auto& [T, M] : std::vector<std::pair<Index, Index>>{{3, 0}, {3, 2}, {4, 5}, {20, 5}}) {
    CAPTURE(T);
    CAPTURE(M);
    const TransformerXL model = random_model(config_of(false, M));
    const Reading reading = two_rows(T, M);
    const std::vector<double> expected = differences(model, [&] { return total_loss(model, reading); });
    const std::vector<double> got = gradient_by_distance(model, reading);
    check_equal(got, expected, 1e-7);
    CHECK(got[1] > 1e-3);
  }
}

TEST_CASE("With it they are central differences with the memory held fixed, and exactly 0 beyond the segment") {
  const TransformerXL model = random_model(config_of(true, 5));
  const Reading reading = two_rows(4, 5);
  Memory held = empty_memory(model.config, 2, 5);
  logits_in_pieces(model, columns(reading.text, 0, 6), {2, 4}, held);
  const auto loss = [&] {
    const Tensor logits = model(columns(reading.text, 6, 4), held, Mode::evaluate()).logits.value();
    return total(cross_entropy(Variable(logits.narrow(1, 3, 1)), columns(reading.text, 10, 1)).value());
  };
  const std::vector<double> got = gradient_by_distance(model, reading);
  check_equal(got, differences(model, loss), 1e-7);
  for (std::size_t d = 0; d < 10; ++d) CHECK((got[d] != 0) == (d < 4));

  // The predictions are the same with and without: the stop-gradient takes away what lies beyond, and nothing else.
  TransformerXL open = model.clone();
  open.config.stop_memory_gradient = false;
  CHECK(same_bits(last_logits(open, reading).value(), last_logits(model, reading).value()));
  const std::vector<double> all = gradient_by_distance(open, reading);
  for (std::size_t d = 0; d < 4; ++d) CHECK(std::abs(all[d] - got[d]) < 1e-12);
  CHECK(all[4] > 1e-4);
}

TEST_CASE("A higher layer's states have the gradient of the paths above them, and reach one hop less for each layer") {
  Config config = config_of(false, 2);
  config.layers = 3;
  const TransformerXL model = random_model(config);
  const Reading reading = two_rows(2, 2);
  CHECK(farthest(gradient_by_distance(model, reading, 0)) == 7);
  CHECK(farthest(gradient_by_distance(model, reading, 1)) == 5);
  CHECK(farthest(gradient_by_distance(model, reading, 2)) == 3);

  // What layer 2 reads of the last segment, made a leaf: the top of the model by hand.
  struct Top : LanguageModel {
    explicit Top(const TransformerXL& m) : LanguageModel(m.config), model(m) {}
    Output operator()(const Tokens& tokens, const Memory& memory, const Mode& mode, Where) const override {
      const auto run = [this](std::size_t n, const Layer& layer, const Variable& h, const Variable& m,
                              const Pass& pass) {
        if (n < 2) return layer(h, m, pass);
        leaves.push_back(parameter(h.value()));
        return layer(leaves.back(), m, pass);
      };
      const States states = model.states(tokens, memory, mode, run);
      return {model.logits(states.h, mode), states.memory};
    }
    void visit_parameters(const std::string&, const ParameterVisitor&) override {}
    const TransformerXL& model;
    mutable std::vector<Variable> leaves;
  };
  const Top top(model);
  backward(sum(losses_of(top, reading)));
  const Tensor gradient = top.leaves.back().gradient();
  const std::vector<double> got = gradient_by_distance(model, reading, 2);
  for (Index d = 0; d < 2; ++d) {
    double expected = 0;
    for (Index b = 0; b < 2; ++b) {
      double squares = 0;
      for (Index k = 0; k < 4; ++k) squares += std::pow(static_cast<double>(gradient.at({b, 1 - d, k})), 2);
      expected += std::sqrt(squares) / 2;
    }
    CHECK(std::abs(got[static_cast<std::size_t>(d)] - expected) < 1e-12);
  }
}

TEST_CASE("Influence passes the wall that stops the gradient, and both end where theory says") {
  struct Case {
    Index N, T, M;
  };
  for (const auto& [N, T, M] : std::vector<Case>{{1, 4, 0},
                                                 {2, 4, 0},
                                                 {1, 4, 4},
                                                 {2, 4, 4},
                                                 {2, 4, 8},
                                                 {3, 4, 2},
                                                 {2, 4, 2},
                                                 {2, 3, 5},
                                                 {3, 2, 3},
                                                 {2, 1, 3},
                                                 {2, 5, 1}}) {
    CAPTURE(N);
    CAPTURE(T);
    CAPTURE(M);
    Config config = tiny_config();
    config.layers = N;
    config.memory_length = M;
    TransformerXL model = random_model(config);
    const Reading reading = {random_tokens(1, 23, 7), T, M};
    const Index seen = tokens_in_reach(config, T, M, T - 1).back();
    if (M % T == 0) CHECK(seen == N * M + T);
    const Influence influence = influence_by_distance(model, reading);
    CHECK(farthest(influence.logits) == seen - 1);
    CHECK(farthest(influence.loss) == seen - 1);
    const std::vector<double> stopped = gradient_by_distance(model, reading);
    CHECK(farthest(stopped) == T - 1);
    CHECK(std::count(stopped.begin(), stopped.end(), 0.0) == 22 - T);
    model.config.stop_memory_gradient = false;
    CHECK(farthest(gradient_by_distance(model, reading)) == seen - 1);
    CHECK(influence_by_distance(model, reading).logits == influence.logits);  // bit for bit
  }
}

TEST_CASE("Influence is the change of the last prediction when one token becomes the next of the vocabulary") {
  const TransformerXL model = random_model(tiny_config());
  const Reading reading = {random_tokens(1, 10, 7), 4, 5};
  const Influence influence = influence_by_distance(model, reading);
  REQUIRE(influence.logits.size() == 9);
  REQUIRE(influence.loss.size() == 9);
  const auto logits_of = [&](const Tokens& text) {
    return logits_in_pieces(model, columns(text, 0, 9), {1, 4, 4}, 5).narrow(1, 8, 1);
  };
  const auto loss = [&](const Tokens& text) {
    return total(cross_entropy(Variable(logits_of(text)), columns(text, 9, 1)).value());
  };
  for (Index d = 0; d < 9; ++d) {
    Tokens changed = reading.text;
    changed[8 - d] = (changed[8 - d] + 1) % 7;
    double squares = 0;
    for (const Real difference : sub(logits_of(changed), logits_of(reading.text)).to_vector()) {
      squares += std::pow(static_cast<double>(difference), 2);
    }
    const auto at = static_cast<std::size_t>(d);
    CHECK(std::abs(influence.logits[at] - std::sqrt(squares)) < 1e-12);
    CHECK(std::abs(influence.loss[at] - std::abs(loss(changed) - loss(reading.text))) < 1e-12);
  }
  // Whoever has seen enough may end it.
  CHECK(influence_by_distance(model, reading, [](Index done) { return done < 3; }).loss.size() == 3);
}

TEST_CASE("Several rows give the mean of what each gives alone") {
  Config config = tiny_config();
  config.stop_memory_gradient = false;
  const TransformerXL model = random_model(config);
  const Tokens text = random_tokens(3, 12, 7);
  std::vector<double> gradient(11, 0), logits(11, 0), loss(11, 0);
  for (Index b = 0; b < 3; ++b) {
    const Reading one = {row_of(text, b), 4, 5};
    const std::vector<double> alone = gradient_by_distance(model, one);
    const Influence influence = influence_by_distance(model, one);
    for (std::size_t d = 0; d < 11; ++d) {
      gradient[d] += alone[d] / 3, logits[d] += influence.logits[d] / 3, loss[d] += influence.loss[d] / 3;
    }
  }
  check_equal(gradient_by_distance(model, {text, 4, 5}), gradient, 1e-12);
  check_equal(influence_by_distance(model, {text, 4, 5}).logits, logits, 1e-12);
  check_equal(influence_by_distance(model, {text, 4, 5}).loss, loss, 1e-12);
}

TEST_CASE("The norms of all parameters together are the norm that clipping finds; without a gradient they are 0") {
  TransformerXL model = random_model(tiny_config());
  for (const ParameterNorm& p : gradient_norms(parameters(model))) CHECK(p.norm == 0);
  backward(sum(losses_of(model, {random_tokens(2, 6, 7), 4, 5})));
  double squares = 0;
  Index size = 0;
  const std::vector<ParameterNorm> norms = gradient_norms(parameters(model));
  for (const ParameterNorm& p : norms) squares += p.norm * p.norm, size += p.size;
  CHECK(size == parameter_count(parameters(model)));
  CHECK(norms[0].name == "embedding.table");
  CHECK(norms[0].norm > 0);
  CHECK(std::abs(std::sqrt(squares) - clip_gradients(parameters(model), 1e6).norm) < 1e-12);
}

TEST_CASE("A reading that cannot be, a layer that is not there and a vocabulary of one are errors") {
  const TransformerXL model = random_model(tiny_config());
  const Tokens text = random_tokens(2, 6, 7);
  CHECK(holds(message_of<ShapeError>([&] { last_logits(model, {random_tokens(2, 1, 7), 4, 5}); }), "[2, 1]"));
  CHECK_THROWS_AS(last_logits(model, {Tokens(), 4, 5}), ShapeError);
  CHECK_THROWS_AS(gradient_by_distance(model, {Tokens(), 4, 5}), ShapeError);
  CHECK_THROWS_AS(influence_by_distance(model, {Tokens(), 4, 5}), ShapeError);
  CHECK(holds(message_of<ValueError>([&] { influence_by_distance(model, {text, 0, 5}); }), "length 0 is below 1"));
  CHECK_THROWS_AS(gradient_by_distance(model, {text, 4, -1}), ValueError);
  CHECK(holds(message_of<RangeError>([&] { gradient_by_distance(model, {text, 4, 5}, 2); }), "layer 2 of 2"));
  CHECK_THROWS_AS(gradient_by_distance(model, {text, 4, 5}, -1), RangeError);
  CHECK_THROWS_AS(influence_by_distance(model, {random_tokens(2, 6, 9), 4, 5}), RangeError);
  const Reading other_target = {Tokens({1, 3}, {1, 2, 7}), 4, 5};
  CHECK_THROWS_AS(last_losses(last_logits(model, other_target), other_target), RangeError);
  Config config = tiny_config();
  config.vocabulary = 1;
  CHECK(holds(message_of<ValueError>([&] {
                influence_by_distance(random_model(config), {Tokens({1, 6}), 4, 5});
              }),
              "vocabulary of 1"));
}

}  // namespace segue::xl_gradient_flow_test
