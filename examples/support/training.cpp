#include "examples/support/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "autograd/backward.hpp"
#include "examples/support/bytes.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/output.hpp"
#include "examples/support/progress.hpp"
#include "nn/loss.hpp"
#include "nn/schedule.hpp"
#include "xl/tools/checkpoint.hpp"
#include "xl/tools/vocabulary.hpp"

namespace segue {

void add_arguments(Arguments& arguments, ModelSettings& s) {
  arguments.add("segment_length", s.segment_length, "segment length T, in tokens", 1, 65536);
  arguments.add("layers", s.layers, "layers N", 1, 64);
  arguments.add("heads", s.heads, "heads H", 1, 64);
  arguments.add("width", s.width, "width D of the model, a multiple of 2 heads", 2, 4096);
  arguments.add("steps", s.steps, "training steps", 1, most_steps);
  arguments.add("batch", s.batch, "parallel rows in training", 1, 4096);
  arguments.add("learning_rate", s.learning_rate, "peak learning rate", positive, 1.0);
  arguments.add("dropout", s.dropout, "dropout on states", 0.0, 0.9);
  arguments.add("seed", s.seed, "seed of weights and data", 0, largest_seed);
  arguments.add("threads", s.threads, "threads", 1, 256);
}

Config make_config(const ModelSettings& s, Index V, Index M) {
  if (s.width % (2 * s.heads) != 0) {
    throw ArgumentError(fmt::format("width: expected a multiple of 2 heads = {}, got {}", 2 * s.heads, s.width));
  }
  return {.vocabulary = V,
          .layers = s.layers,
          .heads = s.heads,
          .head_width = s.width / s.heads,
          .width = s.width,
          .feed_forward_width = 4 * s.width,
          .segment_length = s.segment_length,
          .memory_length = M,
          .dropout = static_cast<Real>(s.dropout)};
}

void prepare(const ModelSettings& s, Index V, Index M, const std::string& folder) {
  make_config(s, V, M);
  make_folder(folder);
  set_thread_count(static_cast<int>(s.threads));
}

TrainingRun train_quietly(LanguageModel& model, const ModelSettings& s, const std::function<Batch()>& next_batch,
                          const std::function<void(const StepReport&)>& report) {
  const Memory memory = empty_memory(model.config, s.batch, model.config.memory_length);
  TrainingRun run = {Adam(parameters(model)), {0, memory, Random(static_cast<std::uint64_t>(s.seed))}, std::nan("")};
  TrainingOptions options;
  options.steps = s.steps;
  options.clip = 1;
  options.learning_rate = [&](Index step) {
    // It would be 0 one step after the last: so the last one still learns, even if it is the only one.
    return warm_up_cosine(step, s.steps / 20, s.steps + 1, static_cast<Real>(s.learning_rate));
  };
  options.report = [&](const StepReport& step) {
    if (step.targets > 0) run.loss = step.loss;
    if (report) report(step);
    return !interrupted();
  };
  train(model, run.optimizer, run.state, next_batch, options);
  return run;
}

TrainingRun run_training(const std::string& name, LanguageModel& model, const ModelSettings& s,
                         const std::function<Batch()>& next_batch,
                         const std::function<std::string(const StepReport&)>& watch) {
  Progress progress(name, s.steps);
  std::string loss;  // of the last step that had targets
  return train_quietly(model, s, next_batch, [&](const StepReport& step) {
    if (step.targets > 0) loss = fmt::format("loss {:.3f}", step.loss);
    progress.update(step.step, watch ? watch(step) : loss);
  });
}

double gradient_of_last_segment(LanguageModel& model, const std::function<Batch()>& next_batch, Index B,
                                Index segments) {
  Memory memory = empty_memory(model.config, B, model.config.memory_length);
  MeanLoss mean;
  for (Index segment = 0; segment < segments; ++segment) {
    const Batch batch = next_batch();
    const Output output = model(batch.inputs, memory, Mode::evaluate());
    mean = mean_cross_entropy(output.logits, batch.targets);
    memory = output.memory;
  }
  clear_gradients(parameters(model));
  backward(mean.loss);
  return static_cast<double>(mean.loss.item());
}

Text read_text(const std::string& path) {
  std::vector<Index> bytes;
  if (!path.empty()) {
    bytes = read_bytes(path);
  } else {
    std::vector<std::filesystem::path> book = {SEGUE_BOOK "/README.md"};
    for (const auto& entry : std::filesystem::directory_iterator(SEGUE_BOOK "/docs")) {
      if (entry.path().extension() == ".md") book.push_back(entry.path());
    }
    std::sort(book.begin(), book.end());
    for (const auto& chapter : book) {
      const std::vector<Index> more = read_bytes(chapter);
      bytes.insert(bytes.end(), more.begin(), more.end());
    }
  }
  const auto cut = bytes.end() - static_cast<std::ptrdiff_t>(bytes.size() / 10);
  return {{bytes.begin(), cut}, {cut, bytes.end()}};
}

TransformerXL load_byte_model(const std::string& checkpoint, Where where) {
  TransformerXL model = load_model(checkpoint, where);
  if (load_words(checkpoint, where)) {
    throw FileError(fmt::format("{} holds a model of words, since {} lies beside it; expected one of bytes", checkpoint,
                                vocabulary_beside(checkpoint).string()));
  }
  if (model.config.vocabulary == 256) return model;
  throw FileError(fmt::format("{} holds no model of bytes: it knows {} tokens, and there are 256 bytes", checkpoint,
                              model.config.vocabulary));
}

void check_length(const Text& text, const ModelSettings& s) {
  const std::size_t needed = static_cast<std::size_t>(s.batch * s.segment_length) + 1;
  if (text.training.size() >= needed && text.held_out.size() >= 2) return;
  throw ValueError(
      fmt::format("the text is too short: {} tokens to train on and {} held out; batch={} segment_length={} need {} "
                  "and 2",
                  text.training.size(), text.held_out.size(), s.batch, s.segment_length, needed));
}

}  // namespace segue
