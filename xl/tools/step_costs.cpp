#include "xl/tools/step_costs.hpp"

#include <chrono>

#include "tensor/storage.hpp"

namespace segue {

std::vector<StepCost> step_costs(LanguageModel& model, const std::function<Batch()>& next_batch,
                                 Index B, Index steps, Where where) {
  Adam optimizer(parameters(model));
  clear_gradients(optimizer.parameters);
  TrainingOptions options;
  options.learning_rate = [](Index) { return Real(0); };
  const std::int64_t nodes = live_node_count();
  const std::size_t bytes = tensor_bytes();

  TrainingState state = {0, empty_memory(model.config, B, model.config.memory_length, where),
                         Random(0)};
  std::vector<StepCost> costs;
  for (options.steps = 1; options.steps <= steps; ++options.steps) {
    reset_peak_tensor_bytes();
    const auto start = std::chrono::steady_clock::now();
    train(model, optimizer, state, next_batch, options, where);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    clear_gradients(optimizer.parameters);
    costs.push_back({time.count(), live_node_count() - nodes, tensor_bytes() - bytes,
                     peak_tensor_bytes() - bytes});
  }
  return costs;
}

}  // namespace segue
