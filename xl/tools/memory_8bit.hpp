// The memory in a quarter of the bytes: each number a code of 8 bits, and one step for each state.
#pragma once

#include <cstdint>
#include <vector>

#include "xl/language_model.hpp"

namespace segue {

/// What compress makes of a Memory. Number d of a state is code[d] times the step of that state.
struct EightBitMemory {
  struct Layer {
    std::vector<std::int8_t> codes;  // [B, M, D] in row-major order, -127 .. 127
    std::vector<float>
        steps;  // [B, M]: the largest magnitude of a state / 127, and 0 for one of zeros
  };
  Shape shape = {0, 0, 0};  // [B, M, D], the same for all layers
  std::vector<Layer> layers;
  Index limit = 0;                 // as in Memory
  std::vector<Index> tokens_read;  // as in Memory
};

/// Rounds every number to the nearest of the 255 codes of its state, so the error is at most half a
/// step. The numbers alone are kept: what led to them is not. Throws ValueError for a state that is
/// not finite or whose step is beyond float, naming it; ShapeError.
EightBitMemory compress(const Memory& memory, Where where = Where::current());

/// Throws ShapeError unless there is a code for every number and a step for every state.
Memory expand(const EightBitMemory& coded, Where where = Where::current());

/// Bytes that the states of all layers take: N B M D sizeof(Real), and N B M (D + 4).
Index state_bytes(const Memory& memory);
Index state_bytes(const EightBitMemory& coded);

/// A model that finds its memory as it comes back from 8 bits: whoever trains or evaluates it sees
/// what that costs.
struct EightBitMemoryModel : LanguageModel {
  /// Keeps a reference to `model`. Throws ValueError without the stop-gradient, since codes pass no
  /// gradient.
  explicit EightBitMemoryModel(LanguageModel& model, Where where = Where::current());

  Output operator()(const Tokens& tokens, const Memory& memory, const Mode& mode,
                    Where where = Where::current()) const override;
  void visit_parameters(const std::string& prefix, const ParameterVisitor& visit) override;

  LanguageModel& model;
};

}  // namespace segue
