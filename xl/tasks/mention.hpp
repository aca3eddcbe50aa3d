// A text that a model wrote, held against the rule of its language.
#pragma once

#include "tensor/real.hpp"

namespace segue {

/// A token of a text that the rule of the language ties to an earlier one: a name that comes back, a bracket that
/// closes.
struct Mention {
  Index place;     // in the text
  Index distance;  // from the token before it, which predicts it, back to the one it must agree with; at least 0
  bool agrees;     // with that one
};

}  // namespace segue
