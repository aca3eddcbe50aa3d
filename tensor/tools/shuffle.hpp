// A random order, the same from the same seed on every compiler.
#pragma once

#include <vector>

#include "tensor/random.hpp"

namespace segue {

/// Every order equally likely (Fisher and Yates).
void shuffle(std::vector<Index>& values, Random& random);

}  // namespace segue
