#include "tensor/real.hpp"

namespace segue {

void compiled_for(Real) {}

// Both libraries define it, so no program can take a part from each.
extern const int one_precision_in_a_program;
const int one_precision_in_a_program = sizeof(Real);

}  // namespace segue
