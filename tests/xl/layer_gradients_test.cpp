#include "xl/tools/layer_gradients.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "autograd/backward.hpp"
#include "tests/support/tiny_models.hpp"

namespace segue::xl_layer_gradients_test {

TEST_CASE("the gradient of a layer is that of all its parameters, and of no others") {
  TransformerXL model = random_model(tiny_config());
  CHECK(layer_gradient_norms(model) == std::vector<double>{0, 0});
  const Tokens tokens = random_tokens(2, 4, 7);
  const Output output = model(tokens, empty_memory(model.config, 2, 5), Mode::evaluate());
  backward(mean_cross_entropy(output.logits, random_tokens(2, 4, 7, 6)).loss);
  std::vector<double> squares(2);
  for (const Parameter& p : parameters(model)) {
    for (const char* layer : {"layers.0.", "layers.1."}) {
      if (p.name.rfind(layer, 0) != 0) continue;
      for (const Real g : p.variable.gradient().to_vector()) {
        squares[layer == std::string("layers.1.") ? 1 : 0] += static_cast<double>(g) * static_cast<double>(g);
      }
    }
  }
  const std::vector<double> norms = layer_gradient_norms(model);
  REQUIRE(norms.size() == 2);
  CHECK(norms[0] == doctest::Approx(std::sqrt(squares[0])));
  CHECK(norms[1] == doctest::Approx(std::sqrt(squares[1])));
  CHECK(norms[0] > 0.001);
}

}  // namespace segue::xl_layer_gradients_test
