#include "xl/tools/document_encoder.hpp"

#include <doctest/doctest.h>

#include "autograd/arithmetic.hpp"
#include "autograd/matmul.hpp"
#include "autograd/shaping.hpp"
#include "tensor/storage.hpp"
#include "tests/support/tiny_models.hpp"

namespace segue::xl_document_encoder_test {

namespace {

// Tokens [B, L] read in chunks of the given lengths.
Tensor states_in_chunks(const TransformerXL& model, const Tokens& tokens, const std::vector<Index>& lengths, Index M) {
  DocumentEncoder encoder(model, tokens.shape[0], M);
  std::vector<Tensor> parts;
  Index start = 0;
  for (const Index length : lengths) {
    parts.push_back(encoder.read(columns(tokens, start, length)));
    start += length;
  }
  return concat(parts, 1);
}

}  // namespace

TEST_CASE("The states are what the output layer reads: under it they are the model's predictions") {
  for (const Config& config : all_variants()) {
    const TransformerXL model = random_model(config);
    const Tokens tokens = random_tokens(2, 11, 7);
    const Variable h(states_in_chunks(model, tokens, {11}, 5));  // [B, T, D]
    const Variable logits = matmul(h, transpose(model.output_weight, 0, 1)) + model.output_bias;
    check_close(logits.value(), logits_in_pieces(model, tokens, {4, 4, 3}, 5));
  }
}

TEST_CASE("Any chunks give the states of one long pass while memory covers the text, and others when it does not") {
  for (Config config : all_variants()) {
    config.segment_length = 12;
    const Tokens tokens = random_tokens(2, 12, 7);
    const Tensor whole = states_in_chunks(random_model(config), tokens, {12}, 12);
    const std::vector<std::vector<Index>> cuts = {{12}, {5, 7}, {3, 0, 1, 8}, std::vector<Index>(12, 1)};
    for (const Index segment : {1, 4, 5, 12}) {
      config.segment_length = segment;
      for (const std::vector<Index>& cut : cuts) {
        check_close(states_in_chunks(random_model(config), tokens, cut, 12), whole);
      }
    }
  }
  Config config = tiny_config();
  const Tokens tokens = random_tokens(1, 12, 7);
  const Tensor whole = states_in_chunks(random_model(config), tokens, {12}, 12);
  const Tensor forgetful = states_in_chunks(random_model(config), tokens, {12}, 2);
  CHECK_FALSE(same_bits(whole.narrow(1, 8, 4), forgetful.narrow(1, 8, 4)));
}

TEST_CASE("A row is a document of its own") {
  const TransformerXL model = random_model(tiny_config());
  const Tokens tokens = random_tokens(3, 9, 7);
  const Tensor together = states_in_chunks(model, tokens, {4, 5}, 5);
  for (const Index b : {0, 1, 2}) {
    check_close(together.narrow(0, b, 1), states_in_chunks(model, row_of(tokens, b), {4, 5}, 5));
  }
}

TEST_CASE("The tenth thousand of tokens needs no more memory than the first, and no graph") {
  const TransformerXL model = random_model(tiny_config());
  DocumentEncoder encoder(model, 1, 5);
  encoder.read(random_tokens(1, 1000, 7));
  const std::int64_t nodes = live_node_count();
  const std::size_t held = tensor_bytes();
  std::size_t first_peak = 0;
  for (std::uint64_t chunk = 0; chunk < 9; ++chunk) {
    reset_peak_tensor_bytes();
    encoder.read(random_tokens(1, 1000, 7, chunk));
    if (chunk == 0) first_peak = peak_tensor_bytes();
    CHECK(peak_tensor_bytes() == first_peak);
    CHECK(tensor_bytes() == held);
  }
  CHECK(live_node_count() == nodes);
}

TEST_CASE("An empty text has no states") {
  const TransformerXL model = random_model(tiny_config());
  DocumentEncoder encoder(model, 2, 5);
  CHECK(to_string(encoder.read(Tokens({2, 0})).shape()) == "[2, 0, 4]");
  const Tokens tokens = random_tokens(2, 3, 7);
  CHECK(same_bits(encoder.read(tokens), states_in_chunks(model, tokens, {3}, 5)));
}

TEST_CASE("Wrong tokens and lengths are errors, and an error leaves the encoder where it was") {
  const TransformerXL model = random_model(tiny_config());
  CHECK_THROWS_AS(DocumentEncoder(model, 0, 5), ValueError);
  CHECK_THROWS_AS(DocumentEncoder(model, 1, -1), ValueError);
  const Tokens tokens = random_tokens(1, 12, 7);
  DocumentEncoder encoder(model, 1, 5);
  encoder.read(columns(tokens, 0, 6));
  CHECK_THROWS_AS(encoder.read(random_tokens(2, 3, 7)), ShapeError);
  CHECK_THROWS_AS(encoder.read(Tokens({3}, {0, 1, 2})), ShapeError);
  CHECK_THROWS_AS(encoder.read(Tokens({1, 6}, {0, 1, 2, 3, 4, 7})), RangeError);  // in its second segment
  const Tensor rest = encoder.read(columns(tokens, 6, 6));
  CHECK(same_bits(rest, states_in_chunks(model, tokens, {6, 6}, 5).narrow(1, 6, 6)));
}

}  // namespace segue::xl_document_encoder_test
