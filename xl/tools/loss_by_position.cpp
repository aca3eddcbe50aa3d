#include "xl/tools/loss_by_position.hpp"

#include "nn/loss.hpp"
#include "tensor/fail.hpp"

namespace segue {

std::vector<double> loss_by_position(const LanguageModel& model,
                                     const std::function<Batch()>& next_batch, Index segments,
                                     Index memory_length, Where where) {
  if (segments < 1)
    fail<ValueError>(where, "loss_by_position: expected 1 segment or more, got {}", segments);
  const NoGradientGuard no_gradient;
  Memory memory;
  Shape shape;  // [B, T] of the first batch
  std::vector<double> means;
  for (Index segment = 0; segment < segments; ++segment) {
    const Batch batch = next_batch();
    if (segment == 0) {
      shape = batch.inputs.shape;
      if (shape.rank() == 2) memory = empty_memory(model.config, shape[0], memory_length, where);
    }
    if (!(batch.inputs.shape == shape) || shape.rank() != 2) {
      fail<ShapeError>(
          where, "loss_by_position: a batch of inputs {} after one of {}; expected equal [B, T]",
          batch.inputs.shape, shape);
    }
    const Index B = shape[0], T = shape[1];
    const Output output = model(batch.inputs, memory, Mode::evaluate(), where);
    memory = output.memory;
    const std::vector<Real> losses =
        cross_entropy(output.logits, batch.targets, where).value().to_vector();
    for (Index i = 0; i < T; ++i) {
      double total = 0, count = 0;
      for (Index b = 0; b < B; ++b) {
        total += static_cast<double>(
            losses[static_cast<std::size_t>(b * T + i)]);  // 0 where the target is ignored
        count += batch.targets[b * T + i] == ignored_target ? 0 : 1;
      }
      means.push_back(total / count);
    }
  }
  return means;
}

std::vector<double> loss_by_place(const std::vector<double>& losses, Index T, Index first,
                                  Where where) {
  const Index length = static_cast<Index>(losses.size());
  if (T < 1 || length % T != 0 || first < 0 || first >= length / T) {
    fail<ValueError>(where,
                     "loss_by_place: {} losses are not segments of {} with one behind number {}",
                     length, T, first);
  }
  std::vector<double> means(static_cast<std::size_t>(T), 0.0);
  for (Index k = first * T; k < length; ++k) {
    means[static_cast<std::size_t>(k % T)] +=
        losses[static_cast<std::size_t>(k)] / static_cast<double>(length / T - first);
  }
  return means;
}

}  // namespace segue
