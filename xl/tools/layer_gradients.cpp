#include "xl/tools/layer_gradients.hpp"

#include <cmath>

#include "xl/tools/gradient_flow.hpp"

namespace segue {

std::vector<double> layer_gradient_norms(TransformerXL& model) {
  std::vector<double> norms;
  for (Layer& layer : model.layers) {
    double squares = 0;
    for (const ParameterNorm& p : gradient_norms(parameters(layer))) squares += p.norm * p.norm;
    norms.push_back(std::sqrt(squares));
  }
  return norms;
}

}  // namespace segue
