// How the gradient is spread over the layers.
#pragma once

#include <vector>

#include "xl/model.hpp"

namespace segue {

/// The Euclidean norm of the gradient of all parameters of each layer, N elements; 0 where no
/// gradient has arrived. u, v, the embedding and the output's bias belong to no layer.
std::vector<double> layer_gradient_norms(TransformerXL& model);

}  // namespace segue
