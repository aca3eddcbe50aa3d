#include "xl/training.hpp"

#include "autograd/backward.hpp"
#include "nn/loss.hpp"
#include "tensor/fail.hpp"

namespace segue {

void train(const LanguageModel& model, Adam& optimizer, TrainingState& state,
           const std::function<Batch()>& next_batch, const TrainingOptions& options, Where where) {
  if (!options.learning_rate) fail<ValueError>(where, "train: the options give no learning rate");
  // Without the stop-gradient the next segment's gradient runs back through this one's graph.
  const Graph graph = model.config.stop_memory_gradient ? Graph::release : Graph::keep;

  while (state.step < options.steps) {
    // 1. The next segment of every stream. Rows that begin anew forget what was before.
    const Batch batch = next_batch();
    const Memory memory = reset_rows(state.memory, batch.resets, where);

    // 2. Forward: segment and memory give predictions and the next memory.
    const Output output = model(batch.inputs, memory, Mode::train(state.random), where);
    const MeanLoss mean = mean_cross_entropy(output.logits, batch.targets, where);

    // 3. Backward: the gradient of this segment's loss.
    clear_gradients(optimizer.parameters);
    if (mean.count > 0) backward(mean.loss, graph);

    // 4. Clip: a gradient longer than the limit is made that long.
    const Clipping clipping = clip_gradients(optimizer.parameters, options.clip, where);

    // 5. Update the weights. A segment without targets teaches nothing: it was only read.
    const Real learning_rate = options.learning_rate(state.step + 1 - state.without_targets);
    if (clipping.finite && mean.count > 0) optimizer.step(learning_rate, where);

    // 6. Hand the memory on to the next segment.
    state.memory =
        clipping.finite ? output.memory : empty_memory(model.config, memory.batch(), memory.limit);
    ++state.step;
    if (mean.count == 0) ++state.without_targets;

    const StepReport report = {state.step,    static_cast<double>(mean.loss.item()),
                               mean.count,    clipping.norm,
                               learning_rate, !clipping.finite};
    if (options.report && !options.report(report)) return;
  }
}

}  // namespace segue
