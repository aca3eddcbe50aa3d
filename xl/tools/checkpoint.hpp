// Models and training runs as safetensors files.
#pragma once

#include <filesystem>
#include <optional>

#include "xl/model.hpp"
#include "xl/tools/vocabulary.hpp"
#include "xl/training.hpp"

namespace segue {

/// The weights by name, and the config as metadata; of a model of words also the fingerprint of its
/// vocabulary, which is saved in a file of its own. The old file survives any failure. Throws
/// FileError.
void save_model(const std::filesystem::path& path, TransformerXL& model,
                const Vocabulary* vocabulary = nullptr, Where where = Where::current());

/// A model from what save_model or save_training wrote. Throws FileError naming the first parameter
/// that is missing, unknown or misshapen.
TransformerXL load_model(const std::filesystem::path& path, Where where = Where::current());

/// The model and all that a run needs to go on as if it had never stopped: moments, step, memory,
/// the state of `random` and the position in the streams. What it cannot keep is the graph behind a
/// memory without stop-gradient.
void save_training(const std::filesystem::path& path, TransformerXL& model, const Adam& optimizer,
                   const TrainingState& state, Index stream_position,
                   const Vocabulary* vocabulary = nullptr, Where where = Where::current());

/// Takes a run up again: sets the weights of `model`, which must have the same config, the
/// optimiser and the state, and returns the position in the streams. Throws FileError, and then has
/// changed nothing.
Index load_training(const std::filesystem::path& path, TransformerXL& model, Adam& optimizer,
                    TrainingState& state, Where where = Where::current());

/// The vocabulary beside a checkpoint; none for a model of bytes, which has none. Throws FileError,
/// naming both files, when it is missing, of another size than the model's, or another one than the
/// checkpoint was saved with. Older checkpoints do not say which that was.
std::optional<Vocabulary> load_words(const std::filesystem::path& checkpoint,
                                     Where where = Where::current());

}  // namespace segue
