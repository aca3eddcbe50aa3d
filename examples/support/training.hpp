// What the lessons that train a model share: their settings, a run with progress, and the text they read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "examples/support/arguments.hpp"
#include "tensor/parallel.hpp"
#include "xl/model.hpp"
#include "xl/training.hpp"

namespace segue {

/// A lesson may count on from its seed and steps: it stays far from the largest number there is.
inline constexpr Index largest_seed = 1'000'000'000'000'000'000;
inline constexpr Index most_steps = 1'000'000'000;

/// The members a lesson does not offer as arguments keep their defaults.
struct ModelSettings {
  Index segment_length = 16, layers = 2, heads = 2, width = 32;
  Index steps = 600, batch = 32, seed = 1, threads = thread_count();
  double learning_rate = 0.006, dropout = 0;
};

/// All of them, under their names.
void add_arguments(Arguments& arguments, ModelSettings& settings);

/// V tokens, a memory of M, and a feed-forward layer of 4 D. Throws ArgumentError when the heads do not divide the
/// width into even parts.
Config make_config(const ModelSettings& settings, Index V, Index M);

/// What comes before all else in a lesson: the settings are checked, as make_config does, the folder is there before
/// hours of training have passed, and the threads are as many as asked for.
void prepare(const ModelSettings& settings, Index V, Index M, const std::string& folder);

struct TrainingRun {
  Adam optimizer;
  TrainingState state;
  double loss = 0;  // of the last step that had targets; NaN when none had
};

/// Trains with Adam until settings.steps or Ctrl-C, the learning rate rising over the first twentieth of the steps and
/// then falling towards 0, which it would reach one step after the last. Shows progress under `name`, with what `watch`
/// says of a step or else its loss.
TrainingRun run_training(const std::string& name, LanguageModel& model, const ModelSettings& settings,
                         const std::function<Batch()>& next_batch,
                         const std::function<std::string(const StepReport&)>& watch = nullptr);

/// The same without a word, for lessons that train many models; `report` may be empty.
TrainingRun train_quietly(LanguageModel& model, const ModelSettings& settings, const std::function<Batch()>& next_batch,
                          const std::function<void(const StepReport&)>& report = nullptr);

/// Gives the parameters the gradient of the mean loss in the last of `segments` segments of B rows that begin anew, and
/// returns that loss.
double gradient_of_last_segment(LanguageModel& model, const std::function<Batch()>& next_batch, Index B,
                                Index segments);

struct Text {
  std::vector<Index> training, held_out;  // tokens, at first bytes; the last tenth is held out
};

/// The file, or with an empty path the README and book of this project. Throws FileError.
Text read_text(const std::string& path);

/// A model whose tokens are bytes. Throws FileError for a file that holds no model, and for a model of words, which has
/// a vocabulary beside it.
TransformerXL load_byte_model(const std::string& checkpoint, Where where = Where::current());

/// Throws ValueError, naming the lengths, unless one step fits into the training part and something is held out.
void check_length(const Text& text, const ModelSettings& settings);

}  // namespace segue
