// What the tests of the rivals share: tiny models of every encoding, their parameters moved a little.
#pragma once

#include <memory>

#include "tests/support/tiny_models.hpp"
#include "xl/rivals/model.hpp"

namespace segue {

/// All encodings and some of the variants of the four terms. The tables cover `rows` positions or distances.
inline std::vector<Encoding> tiny_encodings(Index rows, bool clamp) {
  std::vector<Encoding> all = all_encodings();
  for (const char* name :
       {"transformer_xl:ac", "transformer_xl:bd+values", "transformer_xl:abd", "transformer_xl:none"})
    all.push_back(encoding_named(name));
  for (Encoding& encoding : all) {
    encoding.rows = rows;
    encoding.clamp = clamp;
  }
  return all;
}

/// As random_model.
inline RivalTransformer random_rival(const Config& config, const Encoding& encoding, std::uint64_t seed = 3) {
  Random random(seed);
  RivalTransformer model(config, encoding, random);
  move_parameters(model, random);
  return model;
}

}  // namespace segue
