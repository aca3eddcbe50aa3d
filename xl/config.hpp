// The numbers that define a model. The letters are those of the paper and of tensor/real.hpp.
#pragma once

#include <functional>

#include "tensor/error.hpp"
#include "tensor/real.hpp"

namespace segue {

struct Config {
  Index vocabulary = 256;          // V
  Index layers = 2;                // N
  Index heads = 2;                 // H
  Index head_width = 16;           // Dh
  Index width = 32;                // D
  Index feed_forward_width = 128;  // F
  Index segment_length = 16;       // T in training; a forward pass takes any
  Index memory_length = 16;        // M in training; 0 is the vanilla Transformer cut into segments
  Real dropout = 0;                // on states: embeddings, positions, sub-layers, output
  Real attention_dropout = 0;      // on attention weights
  bool pre_norm = false;           // layer norm before each sub-layer instead of behind it
  bool same_length =
      false;  // a query sees distances 0 .. limit-1 of the memory given, whatever the cut
  Index clamp_length = 0;   // longer distances count as this one; 0 is off
  bool tie_weights = true;  // the output weight is the embedding
  bool stop_memory_gradient =
      true;  // false lets gradients run through the memory, for a lesson on what happens then

  bool operator==(const Config&) const = default;
};

/// Throws ValueError naming the first number that makes no sense.
void check(const Config& config, Where where = Where::current());

/// Calls one of the three for each member, with its name; whole numbers with the least that makes
/// sense.
void visit_members(Config& config,
                   const std::function<void(const char* name, Index& value, Index least)>& whole,
                   const std::function<void(const char* name, Real& value)>& rate,
                   const std::function<void(const char* name, bool& value)>& flag);

}  // namespace segue
