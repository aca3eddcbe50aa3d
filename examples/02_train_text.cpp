// A byte-level language model on a real text, with memory and without.
//
// Both models have the same weights count, segment length and steps; only the memory differs. What the one with memory
// predicts better, it knows from earlier segments. The checkpoint is for generate, the next lesson.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "examples/support/chart.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/training.hpp"
#include "xl/tools/checkpoint.hpp"
#include "xl/tools/evaluation.hpp"

using namespace segue;

namespace {

ModelSettings default_model() {
  ModelSettings m;
  m.segment_length = 32;
  m.heads = 4;
  m.width = 64;
  m.steps = 1500;
  m.batch = 8;
  m.learning_rate = 0.004;
  return m;
}

struct Settings {
  ModelSettings model = default_model();
  std::string text = "";  // the project's own book and README
  Index memory_length = 64;
  std::string out = "out";
};

// Held-out bits per byte, with the lengths of the training.
double held_out_bits(const Settings& s, const TransformerXL& model, const std::vector<Index>& text) {
  return evaluate(model, text, s.model.segment_length, model.config.memory_length, s.model.batch).bits();
}

struct Result {
  double bits;  // per byte, held out
  Index weights;
};

// Trains one model, saves it, and draws its held-out bits per byte into `curve`.
Result train_model(const Settings& s, Index M, const Text& text, Series& curve, Table& table) {
  Random random(static_cast<std::uint64_t>(s.model.seed));
  TransformerXL model(make_config(s.model, 256, M), random);
  Streams streams(text.training, s.model.batch, s.model.segment_length, Tail::drop);
  const Index interval = std::max<Index>(s.model.steps / 10, 1);
  double bits = 0;
  const auto watch = [&](const StepReport& step) {
    if (step.step == s.model.steps || step.step % interval == 0 || interrupted()) {
      bits = held_out_bits(s, model, text.held_out);
      const Evaluation trained = {step.loss, step.targets};
      table.add_row({M, step.step, trained.bits(), bits});
      curve.x.push_back(static_cast<double>(step.step));
      curve.y.push_back(bits);
    }
    return curve.y.empty() ? "" : fmt::format("held out {:.3f} bits per byte", bits);
  };
  const TrainingRun run = run_training(
      fmt::format("training with M = {}", M), model, s.model, [&] { return streams.next(); }, watch);
  const std::string name = M == 0 ? "train_text_vanilla" : "train_text";
  save_training(fmt::format("{}/{}.safetensors", s.out, name), model, run.optimizer, run.state, streams.position());
  return {bits, parameter_count(run.optimizer.parameters)};
}

void tell(const Settings& s) {
  make_config(s.model, 256, s.memory_length);  // what makes no sense is to be said before anything else
  make_folder(s.out);                          // now, and not when hours of training have passed
  set_thread_count(static_cast<int>(s.model.threads));
  const Text text = read_text(s.text);
  check_length(text, s.model);
  fmt::print("{} bytes to train on, the last {} of the text held out. Segments of T = {} bytes, {} rows a step.\n\n",
             text.training.size(), text.held_out.size(), s.model.segment_length, s.model.batch);

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
    results.push_back(train_model(s, M, text, chart.series.back(), table));
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
  add_arguments(arguments, s.model);
  arguments.add("out", s.out, "folder for checkpoint, picture and numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
