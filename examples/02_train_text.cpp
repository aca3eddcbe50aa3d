// A byte-level language model on a real text, with memory and without.
//
// Both models have the same weights count, segment length and steps; only the memory differs. What the one with memory
// predicts better, it knows from earlier segments. The checkpoint is for generate, the next lesson.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "examples/support/bytes.hpp"
#include "examples/support/chart.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/progress.hpp"
#include "nn/schedule.hpp"
#include "tensor/parallel.hpp"
#include "xl/tools/checkpoint.hpp"
#include "xl/tools/evaluation.hpp"

using namespace segue;

namespace {

struct Settings {
  std::string text = "";  // the project's own book and README
  Index memory_length = 64, segment_length = 32;
  Index layers = 2, heads = 4, width = 64;
  Index steps = 1500, batch = 8, seed = 1, threads = thread_count();
  double learning_rate = 0.004, dropout = 0.0;
  std::string out = "out";
};

struct Split {
  std::vector<Index> training, held_out;
};

// The last tenth of the text is never trained on.
Split read_text(const Settings& s) {
  std::vector<Index> bytes;
  if (!s.text.empty()) {
    bytes = read_bytes(s.text);
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

// Held-out bits per byte, with the lengths of the training.
double held_out_bits(const Settings& s, const TransformerXL& model, const std::vector<Index>& text) {
  return evaluate(model, text, s.segment_length, model.config.memory_length, s.batch).bits();
}

struct Result {
  double bits;  // per byte, held out
  Index weights;
};

// Trains one model, saves it, and draws its held-out bits per byte into `curve`.
Result train_model(const Settings& s, Index M, const Split& split, Series& curve, Table& table) {
  Config config;
  config.vocabulary = 256;
  config.layers = s.layers;
  config.heads = s.heads;
  config.head_width = s.width / s.heads;
  config.width = s.width;
  config.feed_forward_width = 4 * s.width;
  config.segment_length = s.segment_length;
  config.memory_length = M;
  config.dropout = static_cast<Real>(s.dropout);

  Random random(static_cast<std::uint64_t>(s.seed));
  TransformerXL model(config, random);
  Adam optimizer(parameters(model));
  Streams streams(split.training, s.batch, s.segment_length, Tail::drop);
  TrainingState state = {0, empty_memory(config, s.batch, M), Random(static_cast<std::uint64_t>(s.seed))};

  Progress progress(fmt::format("training with M = {}", M), s.steps);
  const Index interval = std::max<Index>(s.steps / 10, 1);
  double bits = 0;
  TrainingOptions options;
  options.steps = s.steps;
  options.clip = 1;
  options.learning_rate = [&](Index step) {
    return warm_up_cosine(step, s.steps / 20, s.steps, static_cast<Real>(s.learning_rate));
  };
  options.report = [&](const StepReport& step) {
    const bool last = step.step == s.steps || interrupted();
    if (last || step.step % interval == 0) {
      bits = held_out_bits(s, model, split.held_out);
      const Evaluation trained = {step.loss, step.targets};
      table.add_row({M, step.step, trained.bits(), bits});
      curve.x.push_back(static_cast<double>(step.step));
      curve.y.push_back(bits);
    }
    progress.update(step.step, curve.y.empty() ? "" : fmt::format("held out {:.3f} bits per byte", bits));
    return !last;
  };
  train(
      model, optimizer, state, [&] { return streams.next(); }, options);
  const std::string name = M == 0 ? "train_text_vanilla" : "train_text";
  save_training(fmt::format("{}/{}.safetensors", s.out, name), model, optimizer, state, streams.position());
  return {bits, parameter_count(optimizer.parameters)};
}

void tell(const Settings& s) {
  if (s.width % (2 * s.heads) != 0) {
    throw ArgumentError(fmt::format("width: expected a multiple of 2 heads = {}, got {}", 2 * s.heads, s.width));
  }
  make_folder(s.out);  // now, and not when hours of training have passed
  set_thread_count(static_cast<int>(s.threads));
  const Split split = read_text(s);
  const std::size_t needed = static_cast<std::size_t>(s.batch * s.segment_length) + 1;
  if (split.training.size() < needed || split.held_out.size() < 2) {
    throw ValueError(
        fmt::format("the text is too short: {} bytes to train on and {} held out; batch={} segment_length={} "
                    "need {} and 2",
                    split.training.size(), split.held_out.size(), s.batch, s.segment_length, needed));
  }
  fmt::print("{} bytes to train on, the last {} of the text held out. Segments of T = {} bytes, {} rows a step.\n\n",
             split.training.size(), split.held_out.size(), s.segment_length, s.batch);

  Chart chart;
  chart.title = "Held-out bits per byte while training";
  chart.description = "Bits per byte on the held-out text against training steps, with memory and without.";
  chart.x = {"training steps"};
  chart.y = {"bits per byte"};
  Table table({"memory_length", "step", "training_bits", "held_out_bits"});
  std::vector<Index> memory_lengths = {0};
  if (s.memory_length > 0) memory_lengths.push_back(s.memory_length);
  std::vector<Result> results;
  for (const Index M : memory_lengths) {
    if (interrupted()) break;
    chart.series.push_back({fmt::format("M = {}{}", M, M == 0 ? " (vanilla)" : ""), {}, {}});
    results.push_back(train_model(s, M, split, chart.series.back(), table));
  }
  if (results.empty()) return;  // interrupted before anything was trained
  print(chart);
  fmt::print("\n");
  for (std::size_t k = 0; k < results.size(); ++k) {
    fmt::print("  M = {:<4} {} weights: {:.3f} bits per byte held out\n", memory_lengths[k], results[k].weights,
               results[k].bits);
  }
  if (results.size() == 2) {
    const double gain = results[0].bits - results[1].bits;
    fmt::print("\nWith memory {:.3f} bits per byte {}, at equal weights, segments and steps.\n", std::abs(gain),
               gain > 0 ? "fewer" : "more");
  }
  write_csv(s.out + "/train_text.csv", table);
  write_svg(s.out + "/train_text.svg", chart);
  fmt::print(
      "The picture is in {0}/train_text.svg, the numbers are in {0}/train_text.csv, the model is in "
      "{0}/{1}.safetensors.\n",
      s.out, results.size() == 2 ? "train_text" : "train_text_vanilla");
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("train_text",
                      "Trains a byte-level model on a text, without memory and with it, and compares them.");
  arguments.add("text", s.text, "file to learn from; empty for the project's own book and README");
  arguments.add("memory_length", s.memory_length, "memory M in bytes; 0 trains only the vanilla Transformer", 0, 65536);
  arguments.add("segment_length", s.segment_length, "segment length T in bytes", 1, 65536);
  arguments.add("layers", s.layers, "layers N", 1, 64);
  arguments.add("heads", s.heads, "heads H", 1, 64);
  arguments.add("width", s.width, "width D of the model, a multiple of 2 heads", 2, 4096);
  arguments.add("steps", s.steps, "training steps", 1);
  arguments.add("batch", s.batch, "parallel streams", 1, 4096);
  arguments.add("learning_rate", s.learning_rate, "peak learning rate", positive, 1.0);
  arguments.add("dropout", s.dropout, "dropout on states", 0.0, 0.9);
  arguments.add("seed", s.seed, "seed of the weights", 0);
  arguments.add("threads", s.threads, "threads", 1, 256);
  arguments.add("out", s.out, "folder for checkpoint, picture and numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
