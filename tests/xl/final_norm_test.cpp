#include "xl/tools/final_norm.hpp"
#include "nn/tools/layer_norm_plain.hpp"

#include <doctest/doctest.h>

#include "autograd/arithmetic.hpp"
#include "autograd/matmul.hpp"
#include "autograd/shaping.hpp"
#include "tests/support/tiny_models.hpp"

namespace segue::xl_final_norm_test {

TEST_CASE("the logits are those of the normed states of the last layer, the memories those of the model without") {
  for (const bool pre_norm : {false, true}) {
    Config config = tiny_config();
    config.pre_norm = pre_norm;
    Random random(3);
    FinalNormXL model(config, random);
    move_parameters(model, random);
    const Tokens tokens = random_tokens(2, 4, config.vocabulary);
    const Memory memory = empty_memory(config, 2, config.memory_length);
    const Output output = model(tokens, memory, Mode::evaluate());
    const States without = model.states(tokens, memory, Mode::evaluate(), model.run_layer);
    const Variable normed = layer_norm_plain(without.h, model.final_norm.gain, model.final_norm.bias);
    const Variable expected = matmul(normed, transpose(model.output_weight, 0, 1)) + model.output_bias;
    check_close(output.logits.value(), expected.value());
    CHECK_FALSE(same_bits(output.logits.value(), model.logits(without.h, Mode::evaluate()).value()));
    for (std::size_t n = 0; n < output.memory.layers.size(); ++n) {
      CHECK(same_bits(output.memory.layers[n].value(), without.memory.layers[n].value()));
    }
  }
}

TEST_CASE("the final norm's gain and bias are the last parameters") {
  Random random(3);
  FinalNormXL model(tiny_config(), random);
  const std::vector<Parameter> all = parameters(model);
  CHECK(all[all.size() - 2].name == "final_norm.gain");
  CHECK(all.back().name == "final_norm.bias");
}

}  // namespace segue::xl_final_norm_test
