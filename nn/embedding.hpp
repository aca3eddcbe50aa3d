// A vector for each token.
#pragma once

#include "nn/parameters.hpp"
#include "tensor/random.hpp"
#include "tensor/tokens.hpp"

namespace segue {

struct Embedding {
  /// Rows are random with deviation 1 / sqrt(width).
  Embedding(Index vocabulary, Index width, Random& random);
  /// Tokens [B, T] -> [B, T, D]. Throws RangeError for a token outside 0 .. V-1.
  Variable operator()(const Tokens& tokens, Where where = Where::current()) const;
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit);

  Variable table;  // [V, D]
};

}  // namespace segue
