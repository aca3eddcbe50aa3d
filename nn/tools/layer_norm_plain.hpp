// Layer normalisation by its definition.
#pragma once

#include "autograd/variable.hpp"

namespace segue {

/// Made of simple ops: what layer_norm is compared with.
Variable layer_norm_plain(const Variable& x, const Variable& gain, const Variable& bias);

}  // namespace segue
