#include "xl/tools/prediction_costs.hpp"

#include <doctest/doctest.h>

#include "tests/support/tiny_models.hpp"

namespace segue::xl_prediction_costs_test {

TEST_CASE("A window costs a pass over all of it, and absolute positions save its distances") {
  const Config config = tiny_config();                           // D = 4, H = 2, Dh = 3, F = 5, V = 7, N = 2
  const double W = 9, seen = 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9;  // keys, by all queries together
  const double projections = 5 * W * 4 * 6, scores = 3 * seen * 6, feed_forward = 2 * W * 4 * 5, logits = W * 4 * 7;
  CHECK(window_multiplications(config, 9) == 2 * (projections + scores + feed_forward) + logits);
  const double distances = W * 4 * 6, scores_of_distances = seen * 6;
  CHECK(window_multiplications(config, 9) - absolute_window_multiplications(config, 9) ==
        2 * (distances + scores_of_distances));
}

TEST_CASE("With memory, T tokens share a pass, and nothing of the memory is projected") {
  const Config config = tiny_config();
  const double T = 4, M = 9, K = 13, seen = 10 + 11 + 12 + 13;
  const double segment = 4 * T * 4 * 6, scores = 3 * seen * 6, feed_forward = 2 * T * 4 * 5, logits = T * 4 * 7;
  const double pass = 2 * (segment + scores + feed_forward) + logits;
  CHECK(memory_multiplications(config, 4, 9) == pass / T);
  CHECK(uncached_memory_multiplications(config, 4, 9) == (pass + 2 * ((2 * M + K) * 4 * 6)) / T);
  CHECK(uncached_memory_multiplications(config, 4, 0) == window_multiplications(config, 4) / 4);
}

TEST_CASE("A memory shorter than the segment is known, too") {
  const double M = 3, K = 7, saved = 2 * (2 * M + K) * 4 * 6;
  const Config config = tiny_config();
  CHECK(uncached_memory_multiplications(config, 4, 3) - memory_multiplications(config, 4, 3) == saved / 4);
}

TEST_CASE("In the lesson's model a window is at least as many times as slow as the paper says, by counting") {
  const Config config = {
      .vocabulary = 256, .layers = 2, .heads = 3, .head_width = 64, .width = 192, .feed_forward_width = 768};
  const auto ratio = [&](Index W) {
    return window_multiplications(config, W) / memory_multiplications(config, 512, W);
  };
  CHECK(ratio(800) == doctest::Approx(546).epsilon(0.001));
  CHECK(ratio(1800) == doctest::Approx(1114).epsilon(0.001));
  CHECK(ratio(2800) == doctest::Approx(1647).epsilon(0.001));
  CHECK(ratio(3800) == doctest::Approx(2167).epsilon(0.001));
  CHECK(ratio(800) > 363);  // table 9
  CHECK(ratio(1800) > 773);
  CHECK(ratio(2800) > 1409);
  CHECK(ratio(3800) > 1874);
}

TEST_CASE("What the config says of segments does not matter, and lengths without sense are errors") {
  Config config = tiny_config(), other = config;
  other.segment_length = 3;
  other.memory_length = 0;
  CHECK(window_multiplications(config, 9) == window_multiplications(other, 9));
  other.memory_length = 2;
  other.same_length = true;
  CHECK(absolute_window_multiplications(config, 9) == absolute_window_multiplications(other, 9));
  CHECK(memory_multiplications(config, 4, 9) == memory_multiplications(other, 4, 9));
  for (const Index bad : {Index(0), Index(-1), Index(1) << 62}) {
    CHECK(holds(thrown_by<ValueError>([&] { window_multiplications(config, bad); }), "segment_length must be in"));
    CHECK_THROWS_AS(absolute_window_multiplications(config, bad), ValueError);
    CHECK_THROWS_AS(memory_multiplications(config, bad, 9), ValueError);
    CHECK_THROWS_AS(uncached_memory_multiplications(config, bad, 9), ValueError);
  }
  CHECK_THROWS_AS(memory_multiplications(config, 4, -1), ValueError);
  CHECK_THROWS_AS(uncached_memory_multiplications(config, 4, Index(1) << 62), ValueError);
}

}  // namespace segue::xl_prediction_costs_test
