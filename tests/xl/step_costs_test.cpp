#include "xl/tools/step_costs.hpp"

#include <doctest/doctest.h>

#include "tests/support/tiny_models.hpp"

namespace segue::xl_step_costs_test {

namespace {

// The costs of eight steps on segments of four tokens in two rows.
std::vector<StepCost> costs_of(bool stop, Index M) {
  Config config = tiny_config();
  config.stop_memory_gradient = stop;
  config.memory_length = M;
  TransformerXL model = random_model(config);
  const Tokens text = random_tokens(2, 5, 7);
  return step_costs(
      model,
      [&] {
        return Batch{columns(text, 0, 4), columns(text, 1, 4), {}};
      },
      2, 8);
}

}  // namespace

TEST_CASE("With the stop-gradient a step leaves the memory behind and nothing else, however many went before") {
  for (const Index M : {0, 4, 8}) {
    CAPTURE(M);
    const std::vector<StepCost> costs = costs_of(true, M);
    REQUIRE(costs.size() == 8);
    for (std::size_t k = 0; k < 8; ++k) {
      CHECK(costs[k].nodes == 2);  // the memories of two layers
      CHECK(costs[k].peak_bytes > costs[k].bytes);
      if (k < 2) continue;  // the memory is not full yet
      CHECK(costs[k].bytes == costs[2].bytes);
    }
    // The memory may be the end of a block that holds [memory ; segment].
    const auto bytes_of = [](Index positions) {
      return static_cast<std::size_t>(2 * 2 * positions * 4) * sizeof(Real);
    };
    CHECK(costs[7].bytes >= bytes_of(M));
    CHECK(costs[7].bytes <= bytes_of(M + 4));
  }
}

TEST_CASE("Without it every step leaves its whole graph behind, and as much again each time") {
  const std::vector<StepCost> costs = costs_of(false, 8);
  for (std::size_t k = 4; k < 8; ++k) {
    CHECK(costs[k].nodes - costs[k - 1].nodes == costs[3].nodes - costs[2].nodes);
    CHECK(costs[k].bytes - costs[k - 1].bytes == costs[3].bytes - costs[2].bytes);
  }
  CHECK(costs[7].nodes - costs[6].nodes >= 25);
  CHECK(costs[7].peak_bytes > 2 * costs_of(true, 8)[7].peak_bytes);
}

TEST_CASE("Measuring leaves weights and gradients as they were before a step, and frees everything") {
  Config config = tiny_config();
  config.stop_memory_gradient = false;
  TransformerXL model = random_model(config);
  const std::vector<Tensor> before = parameter_values(model);
  const std::int64_t nodes = live_node_count();
  step_costs(
      model,
      [&] {
        return Batch{random_tokens(2, 4, 7), random_tokens(2, 4, 7, 6), {}};
      },
      2, 3);
  CHECK(same_bits(parameter_values(model), before));
  for (const Parameter& p : parameters(model)) CHECK_FALSE(p.variable.has_gradient());
  CHECK(live_node_count() == nodes);
}

}  // namespace segue::xl_step_costs_test
