#include "xl/tools/loss_by_position.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/tiny_models.hpp"
#include "xl/tools/evaluation.hpp"

namespace segue::xl_loss_by_position_test {

namespace {

// Segments of three tokens in two rows; the third target of row 1 does not count.
Batch batch_at(Index segment) {
  Batch batch = {
      columns(random_tokens(2, 9, 7), 3 * segment, 3), columns(random_tokens(2, 9, 7, 8), 3 * segment, 3), {}};
  if (segment == 0) batch.targets[5] = ignored_target;
  if (segment == 1) batch.targets[0] = batch.targets[3] = ignored_target;
  return batch;
}

}  // namespace

TEST_CASE("The loss at a position is the mean over the rows whose target counts there") {
  const TransformerXL model = random_model(tiny_config());
  Index segment = 0;
  const std::vector<double> losses = loss_by_position(
      model, [&] { return batch_at(segment++); }, 3, 4);
  CHECK(segment == 3);
  REQUIRE(losses.size() == 9);
  const Tokens targets = random_tokens(2, 9, 7, 8);
  const Tensor logits = logits_in_pieces(model, random_tokens(2, 9, 7), {3, 3, 3}, 4);
  const std::vector<Real> expected = cross_entropy(Variable(logits), targets).value().to_vector();
  for (std::size_t t = 0; t < 9; ++t) {
    const double a = static_cast<double>(expected[t]), b = static_cast<double>(expected[9 + t]);
    if (t == 3) {
      CHECK(std::isnan(losses[t]));
    } else {
      CHECK(std::abs(losses[t] - (t == 2 ? a : (a + b) / 2)) < rounding);
    }
  }
}

TEST_CASE("Places of a segment take the mean over segments") {
  CHECK(loss_by_place({1, 2, 3, 4, 5, 9}, 2, 0) == std::vector<double>{3, 5});
  CHECK(loss_by_place({1, 2, 3, 4, 5, 9}, 2, 2) == std::vector<double>{5, 9});
  CHECK(loss_by_place({1, 2}, 2, 0) == std::vector<double>{1, 2});
}

TEST_CASE("No segments, batches that change their shape, and parts of a segment are errors") {
  const TransformerXL model = random_model(tiny_config());
  CHECK(holds(message_of<ValueError>([&] {
                loss_by_position(
                    model, [] { return batch_at(0); }, 0, 4);
              }),
              "got 0"));
  Index segment = 0;
  const auto shrinking = [&] {
    Batch batch = batch_at(0);
    if (segment++ > 0) batch.inputs = columns(batch.inputs, 0, 2);
    return batch;
  };
  CHECK(holds(message_of<ShapeError>([&] { loss_by_position(model, shrinking, 2, 4); }), "[2, 2] after one of [2, 3]"));
  CHECK_THROWS_AS(loss_by_position(
                      model,
                      [] {
                        return Batch{Tokens({4}), Tokens({4}), {}};
                      },
                      1, 4),
                  ShapeError);
  CHECK_THROWS_AS(loss_by_place({1, 2, 3}, 2, 0), ValueError);
  CHECK_THROWS_AS(loss_by_place({1, 2}, 2, 1), ValueError);
  CHECK_THROWS_AS(loss_by_place({1, 2}, 2, -1), ValueError);
  CHECK_THROWS_AS(loss_by_place({1, 2}, 0, 0), ValueError);
  CHECK_THROWS_AS(loss_by_place({}, 2, 0), ValueError);
}

}  // namespace segue::xl_loss_by_position_test
