#include "examples/support/random_training.hpp"

namespace segue {

RandomTraining::RandomTraining(const Config& config, Index B, Random random)
    : model(config, random),
      optimizer(parameters(model)),
      state{0, empty_memory(config, B, config.memory_length), random} {
  const Shape shape = {B, config.segment_length};
  batch = {Tokens(shape), Tokens(shape), {}};
  for (Index& id : batch.inputs.ids) id = random.below(config.vocabulary);
  for (Index& id : batch.targets.ids) id = random.below(config.vocabulary);
  const Index M = config.memory_length;
  for (Variable& m : state.memory.layers) m = Variable(random.normal({B, M, config.width}, 0, 1));
  state.memory.tokens_read.assign(state.memory.tokens_read.size(), M);
  options.learning_rate = [](Index) { return Real(0.0003); };
}

void RandomTraining::step() {
  options.steps = state.step + 1;
  train(
      model, optimizer, state, [this] { return batch; }, options);
}

}  // namespace segue
