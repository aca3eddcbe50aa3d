#include "xl/tools/document_encoder.hpp"

#include <algorithm>
#include <vector>

#include "tensor/indexing.hpp"

namespace segue {

DocumentEncoder::DocumentEncoder(const TransformerXL& model, Index rows, Index memory_length,
                                 Where where)
    : model_(model), memory_(empty_memory(model.config, rows, memory_length, where)) {}

Tensor DocumentEncoder::read(const Tokens& tokens, Where where) {
  const NoGradientGuard no_gradient;
  check_segment(model_.model.config, tokens, memory_, where);
  const Index B = tokens.shape[0], T = tokens.shape[1];
  Memory memory = memory_;
  std::vector<Tensor> states = {Tensor::zeros({B, 0, model_.model.config.width})};
  for (Index start = 0; start < T; start += model_.model.config.segment_length) {
    Tokens segment({B, std::min(model_.model.config.segment_length, T - start)});
    for (Index b = 0; b < B; ++b) {
      std::copy_n(tokens.ids.begin() + (b * T + start), segment.shape[1],
                  segment.ids.begin() + b * segment.shape[1]);
    }
    const States read = model_.states(segment, memory, Mode::evaluate(), where);
    memory = read.memory;
    states.push_back(read.h.value());
  }
  memory_ = memory;                 // only now, so that a bad token leaves all as it was
  return concat(states, 1, where);  // [B, T, D]
}

}  // namespace segue
