#include "xl/tools/evaluation.hpp"

#include <cmath>
#include <numbers>

#include "nn/loss.hpp"
#include "xl/streams.hpp"

namespace segue {

double Evaluation::perplexity() const { return std::exp(nats); }
double Evaluation::bits() const { return nats / std::numbers::ln2; }

Evaluation evaluate(const LanguageModel& model, const std::vector<Index>& text, Index segment_length,
                    Index memory_length, Index batch, Where where) {
  const NoGradientGuard no_gradient;
  Streams streams(text, batch, segment_length, Tail::keep, where);
  Memory memory = empty_memory(model.config, batch, memory_length, where);
  double total = 0;
  Index count = 0;
  for (Index s = 0; s < streams.segments(); ++s) {
    const Batch segment = streams.next();
    const Output output = model(segment.inputs, memory, Mode::evaluate(), where);
    for (const Real loss : cross_entropy(output.logits, segment.targets, where).value().to_vector()) {
      total += static_cast<double>(loss);
    }
    count += count_targets(segment.targets);
    memory = output.memory;
  }
  return {total / static_cast<double>(count), count};
}

}  // namespace segue
