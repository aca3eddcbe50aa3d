#include "xl/tools/model_size.hpp"

#include <doctest/doctest.h>

#include "tests/support/tiny_models.hpp"

namespace segue::xl_model_size_test {

TEST_CASE("A model has as many weights as its config says") {
  for (Config config : all_variants()) {
    for (const Index layers : {1, 3}) {
      config.layers = layers;
      TransformerXL model = random_model(config);
      CHECK(parameter_count(config) == parameter_count(parameters(model)));
    }
  }
}

TEST_CASE("The paper's models have as many weights as its table 2 says") {
  Config config;
  config.vocabulary = 204;  // the different bytes of enwik8
  config.layers = 12;
  config.width = 512;
  config.heads = 8;
  config.head_width = 64;
  config.feed_forward_width = 2048;
  CHECK(parameter_count(config) == doctest::Approx(41e6).epsilon(0.005));
  config.layers = 24;
  config.width = 1024;
  config.head_width = 128;
  config.feed_forward_width = 3072;
  CHECK(parameter_count(config) == doctest::Approx(277e6).epsilon(0.005));
}

TEST_CASE("A step costs the products of its matrix multiplications, counted one by one") {
  Config config = tiny_config();  // D = 4, H Dh = 6, F = 5, V = 7, N = 2, T = 4, M = 5, K = 9
  const double queries = 4 * 4 * 6, keys = 9 * 4 * 6, values = 9 * 4 * 6, distances = 9 * 4 * 6, outputs = 4 * 6 * 4;
  const double content = 2 * 4 * 3 * 9, position = 2 * 4 * 3 * 9, weighted = 2 * 4 * 9 * 3;  // H times T, Dh, K
  const double feed_forward = 4 * 4 * 5 + 4 * 5 * 4, logits = 4 * 4 * 7;
  const double layer = queries + keys + values + distances + outputs + content + position + weighted + feed_forward;
  CHECK(training_flops(config, 1) == 6 * (2 * layer + logits));
  CHECK(training_flops(config, 10) == 6 * (2 * (10 * (layer - distances) + distances) + 10 * logits));
}

TEST_CASE("Of hidden scores and of gradients that nobody asks for, no products are counted") {
  const Config config = tiny_config();  // D = 4, H Dh = 6, F = 5, V = 7, N = 2, T = 4, M = 5, K = 9
  // The queries see 6, 7, 8 and 9 keys.
  const double queries = 4 * 4 * 6, keys = 9 * 4 * 6, distances = 9 * 4 * 6, scores = (6 + 7 + 8 + 9) * 6;
  const double feed_forward = 4 * 4 * 5, logits = 4 * 4 * 7;
  // q and output, keys and values, (a) + (c) and (b) + (d) and weighted values, two linear layers
  const double layer = 2 * queries + 2 * keys + distances + 3 * scores + 2 * feed_forward;
  CHECK(forward_products(config, 1, 4, 5) == 2 * layer + logits);
  CHECK(forward_products(config, 1, 4, 5) == 3192);
  CHECK(forward_products(config, 10, 4, 5) == 10 * 3192 - 9 * 2 * distances);  // the distances are those of all rows
  // To the states of keys and values go gradients for 4 of the 9 positions, to the sinusoids none.
  const double back = 2 * 2 * queries + 2 * (keys + 4 * 4 * 6) + distances + 2 * 3 * scores + 2 * 2 * feed_forward;
  CHECK(backward_products(config, 1) == 2 * back + 2 * logits);
  CHECK(backward_products(config, 1) == 5472);
}

TEST_CASE("In a layer of width D a step needs 36 D^2 products for a token, 4 D^2 for one remembered, 9 D for a pair") {
  Config config = {.vocabulary = 7, .layers = 3, .heads = 2, .head_width = 4, .width = 8, .feed_forward_width = 32};
  config.segment_length = 5, config.memory_length = 9;
  const double B = 6, D = 8, T = 5, M = 9, pairs = T * M + T * (T + 1) / 2;
  const double layer = B * (36 * D * D * T + 4 * D * D * M + 9 * D * pairs), distances = 2 * (M + T) * D * D;
  CHECK(forward_products(config, 6, 5, 9) + backward_products(config, 6) ==
        3 * (layer + distances) + 3 * B * T * D * 7);
}

TEST_CASE("Sizes of a config without sense, or beyond all counting, are errors") {
  Config config;
  config.vocabulary = config.layers = config.heads = config.head_width = config.width = config.feed_forward_width =
      Index(1) << 30;
  CHECK(holds(thrown_by<ValueError>([&] { parameter_count(config); }), "more than can be counted"));
  CHECK(training_flops(config, 1) > 1e39);
  config = tiny_config();
  CHECK(holds(thrown_by<ValueError>([&] { training_flops(config, 0); }), "at least 1 row, got 0"));
  CHECK(holds(thrown_by<ValueError>([&] { forward_products(config, 0, 4, 5); }), "at least 1 row, got 0"));
  CHECK(holds(thrown_by<ValueError>([&] { forward_products(config, 1, 0, 5); }), "segment_length must be in"));
  config.width = -4;
  CHECK(holds(thrown_by<ValueError>([&] { parameter_count(config); }), "width must be in"));
  CHECK(holds(thrown_by<ValueError>([&] { training_flops(config, 1); }), "width must be in"));
}

}  // namespace segue::xl_model_size_test
