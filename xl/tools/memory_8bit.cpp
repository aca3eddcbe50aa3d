#include "xl/tools/memory_8bit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/fail.hpp"
#include "xl/tools/memory_view.hpp"

namespace segue {
namespace {

constexpr double largest_code = 127;

// What stands between two codes when the largest of them is to be the largest magnitude. Infinity
// when that is beyond float; NaN when a number is.
float step_between_codes(const Real* x, Index D) {
  double largest = 0;
  for (Index d = 0; d < D; ++d) {
    if (std::isnan(x[d])) return std::numeric_limits<float>::quiet_NaN();
    largest = std::max(largest, std::abs(static_cast<double>(x[d])));
  }
  const double exact = largest / largest_code;
  if (exact > static_cast<double>(std::numeric_limits<float>::max()))
    return std::numeric_limits<float>::infinity();
  float step = static_cast<float>(exact);
  // A subnormal float may be rounded far down, even to 0; the next one leaves room for the largest.
  if (largest > 0 && largest >= (largest_code + 0.5) * static_cast<double>(step)) {
    step = std::nextafter(step, std::numeric_limits<float>::infinity());
  }
  // One that was rounded up must not bring the largest back as more than a Real can be.
  if (largest_code * static_cast<double>(step) >
      static_cast<double>(std::numeric_limits<Real>::max())) {
    step = std::nextafter(step, 0.0f);
  }
  return step;
}

void encode_state(const Real* x, Index D, float step, std::int8_t* codes) {
  for (Index d = 0; d < D; ++d) {
    codes[d] = step == 0 ? std::int8_t{0}
                         : static_cast<std::int8_t>(std::nearbyint(static_cast<double>(x[d]) /
                                                                   static_cast<double>(step)));
  }
}

}  // namespace

EightBitMemory compress(const Memory& memory, Where where) {
  check_shapes(memory, where);
  EightBitMemory coded;
  if (!memory.layers.empty()) coded.shape = memory.layers[0].shape();
  coded.limit = memory.limit;
  coded.tokens_read = memory.tokens_read;
  const Index M = coded.shape[1], D = coded.shape[2], states = coded.shape[0] * M;
  for (const Variable& layer : memory.layers) {
    const Tensor all = layer.value().contiguous();  // [B, M, D]
    EightBitMemory::Layer out;
    out.codes.resize(static_cast<std::size_t>(states * D));
    for (Index state = 0; state < states; ++state) {
      const Real* x = all.data() + state * D;
      const float step = step_between_codes(x, D);
      if (!std::isfinite(step)) {
        fail<ValueError>(
            where, "8-bit memory: layer {}, row {}, position {} holds {}", coded.layers.size(),
            state / M, state % M,
            std::isnan(step) ? "a NaN" : "an infinity, or a number too large for a step");
      }
      encode_state(x, D, step, out.codes.data() + state * D);
      out.steps.push_back(step);
    }
    coded.layers.push_back(std::move(out));
  }
  return coded;
}

Memory expand(const EightBitMemory& coded, Where where) {
  const Index rows = static_cast<Index>(coded.tokens_read.size());
  if (coded.shape.rank() != 3 || coded.shape[0] != rows) {
    fail<ShapeError>(where, "8-bit memory: {} for {} rows, expected [B, M, D]", coded.shape, rows);
  }
  const Index D = coded.shape[2], states = coded.shape[0] * coded.shape[1];
  Memory memory;
  memory.limit = coded.limit;
  memory.tokens_read = coded.tokens_read;
  for (const EightBitMemory::Layer& layer : coded.layers) {
    if (static_cast<Index>(layer.codes.size()) != states * D ||
        static_cast<Index>(layer.steps.size()) != states) {
      fail<ShapeError>(where, "8-bit memory: {} codes and {} steps for states {}",
                       layer.codes.size(), layer.steps.size(), coded.shape);
    }
    Tensor all = Tensor::uninitialized(coded.shape);
    Real* x = all.data_in_place();
    for (Index state = 0; state < states; ++state) {
      const double step = static_cast<double>(layer.steps[static_cast<std::size_t>(state)]);
      const std::int8_t* codes = layer.codes.data() + state * D;
      for (Index d = 0; d < D; ++d) *x++ = static_cast<Real>(codes[d] * step);
    }
    memory.layers.emplace_back(all, "8 bits");
  }
  return memory;
}

Index state_bytes(const Memory& memory) {
  Index total = 0;
  for (const Variable& layer : memory.layers)
    total += layer.value().size() * static_cast<Index>(sizeof(Real));
  return total;
}

Index state_bytes(const EightBitMemory& coded) {
  std::size_t total = 0;
  for (const EightBitMemory::Layer& layer : coded.layers)
    total += layer.codes.size() + layer.steps.size() * sizeof(float);
  return static_cast<Index>(total);
}

EightBitMemoryModel::EightBitMemoryModel(LanguageModel& m, Where where)
    : LanguageModel(m.config, where), model(m) {
  if (!config.stop_memory_gradient)
    fail<ValueError>(where, "8-bit memory: codes pass no gradient on, but it is asked");
}

Output EightBitMemoryModel::operator()(const Tokens& tokens, const Memory& memory, const Mode& mode,
                                       Where where) const {
  Output output = model(tokens, memory, mode, where);
  output.memory = expand(compress(output.memory, where), where);
  return output;
}

void EightBitMemoryModel::visit_parameters(const std::string& prefix,
                                           const ParameterVisitor& visit) {
  model.visit_parameters(prefix, visit);
}

}  // namespace segue
