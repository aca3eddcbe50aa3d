// Whether a forward pass trains or evaluates, said explicitly in every call.
#pragma once

#include "autograd/masking.hpp"

namespace segue {

/// Mode::evaluate() leaves every value in; Mode::train(random) lets dropout draw from `random`.
class Mode {
 public:
  static Mode evaluate() { return Mode(nullptr); }
  static Mode train(Random& random) { return Mode(&random); }

  /// Dropout in training, x itself in evaluation.
  Variable dropout(const Variable& x, Real rate, Where where = Where::current()) const {
    return random_ == nullptr ? x : segue::dropout(x, rate, *random_, where);
  }
  /// What dropout draws from; null in evaluation.
  Random* random() const { return random_; }

 private:
  explicit Mode(Random* random) : random_(random) {}
  Random* random_;
};

}  // namespace segue
