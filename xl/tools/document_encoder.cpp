#include "xl/tools/document_encoder.hpp"

#include <algorithm>
#include <vector>

#include "tensor/indexing.hpp"

namespace segue {
namespace {

Tensor identity_matrix(Index D) {
  Tensor identity = Tensor::zeros({D, D});
  for (Index d = 0; d < D; ++d) identity.set_in_place({d, d}, 1);
  return identity;
}

}  // namespace

TransformerXL without_output_layer(const TransformerXL& model) {
  TransformerXL states = model;
  const Index D = model.config.width;
  states.output_weight = Variable(identity_matrix(D));
  states.output_bias = Variable(Tensor::zeros({D}));
  return states;
}

DocumentEncoder::DocumentEncoder(const TransformerXL& model, Index rows, Index memory_length,
                                 Where where)
    : model_(without_output_layer(model)),
      memory_(empty_memory(model.config, rows, memory_length, where)) {}

Tensor DocumentEncoder::read(const Tokens& tokens, Where where) {
  const NoGradientGuard no_gradient;
  check_segment(model_.config, tokens, memory_, where);
  const Index B = tokens.shape[0], T = tokens.shape[1];
  Memory memory = memory_;
  std::vector<Tensor> states = {Tensor::zeros({B, 0, model_.config.width})};
  for (Index start = 0; start < T; start += model_.config.segment_length) {
    Tokens segment({B, std::min(model_.config.segment_length, T - start)});
    for (Index b = 0; b < B; ++b) {
      std::copy_n(tokens.ids.begin() + (b * T + start), segment.shape[1],
                  segment.ids.begin() + b * segment.shape[1]);
    }
    const Output output = model_(segment, memory, Mode::evaluate(), where);
    memory = output.memory;
    states.push_back(output.logits.value());
  }
  memory_ = memory;                 // only now, so that a bad token leaves all as it was
  return concat(states, 1, where);  // [B, T, D]
}

}  // namespace segue
