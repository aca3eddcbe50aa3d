// y = x W + b.
#pragma once

#include "nn/parameters.hpp"
#include "tensor/random.hpp"

namespace segue {

/// A matrix [rows, columns] of normal numbers with deviation 1 / sqrt(rows), so that x W keeps the
/// size of x.
Variable random_matrix(Index rows, Index columns, Random& random, std::string label);

struct Linear {
  /// W is random, b zero.
  Linear(Index inputs, Index outputs, Random& random);
  /// [.., inputs] -> [.., outputs]; two axes or more. Throws ShapeError.
  Variable operator()(const Variable& x, Where where = Where::current()) const;
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit);

  Variable w;  // [inputs, outputs]
  Variable b;  // [outputs]
};

}  // namespace segue
