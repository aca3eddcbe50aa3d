#include "xl/tasks/loss_by_distance.hpp"

#include <map>

#include "nn/loss.hpp"
#include "tensor/fail.hpp"

namespace segue {

std::vector<LossAtDistance> loss_by_distance(const LanguageModel& model, TaskRows& rows,
                                             Index batches, Index memory_length, Where where) {
  if (batches < 1)
    fail<ValueError>(where, "loss by distance: there is nothing to measure on {} batches", batches);
  const NoGradientGuard no_gradient;
  std::map<Index, LossAtDistance> sums;
  Memory memory;
  for (Index n = 0; n < batches; ++n) {
    const Batch batch = rows.next(where);
    if (n == 0) memory = empty_memory(model.config, batch.inputs.shape[0], memory_length, where);
    const Output output =
        model(batch.inputs, reset_rows(memory, batch.resets), Mode::evaluate(), where);
    memory = output.memory;
    const std::vector<Real> losses =
        cross_entropy(output.logits, batch.targets, where).value().to_vector();
    for (Index k = 0; k < batch.targets.size(); ++k) {
      if (batch.targets[k] == ignored_target) continue;
      LossAtDistance& sum =
          sums.try_emplace(rows.distances()[k], LossAtDistance{rows.distances()[k], 0, 0})
              .first->second;
      sum.loss += static_cast<double>(losses[static_cast<std::size_t>(k)]);
      ++sum.targets;
    }
  }
  std::vector<LossAtDistance> means;
  for (const auto& [distance, sum] : sums) {
    means.push_back({distance, sum.targets, sum.loss / static_cast<double>(sum.targets)});
  }
  return means;
}

}  // namespace segue
