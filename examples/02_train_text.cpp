// A byte-level language model on a real text, with memory and without.
//
// Both models have the same weights count, segment length and steps; only the memory differs. What the one with memory
// predicts better, it knows from earlier segments. The checkpoint is for generate, the next lesson, and evaluate_text.
// With unit=words the tokens are words, whose vocabulary lies in a file beside the checkpoint.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <optional>
#include <vector>

#include "examples/support/bytes.hpp"
#include "examples/support/chart.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/training.hpp"
#include "xl/tools/checkpoint.hpp"
#include "xl/tools/evaluation.hpp"
#include "xl/tools/vocabulary.hpp"

using namespace segue;

namespace {

struct Settings {
  ModelSettings model = {
      .segment_length = 32, .heads = 4, .width = 64, .steps = 1500, .batch = 8, .learning_rate = 0.004};
  std::string text = "";  // the project's own book and README
  Index memory_length = 64;
  std::string unit = "bytes";    // or "words"
  Index vocabulary_size = 2000;  // of words
  std::string out = "out";
  std::string token() const { return unit == "words" ? "word" : "byte"; }
};

// What the models learn from, in tokens.
struct Material {
  Text text;
  std::optional<Vocabulary> vocabulary;  // of words; none for bytes
  Index V() const { return vocabulary ? vocabulary->size() : 256; }
};

Material read_material(const Settings& s) {
  Material material = {read_text(s.text), {}};
  if (s.unit == "bytes") return material;
  const std::string training = to_text(material.text.training), held_out = to_text(material.text.held_out);
  material.vocabulary = build_vocabulary(training, 1, s.vocabulary_size);
  material.text = {encode(*material.vocabulary, training), encode(*material.vocabulary, held_out)};
  return material;
}

// The vocabulary beside the checkpoint: none beside one of bytes.
void save_words(const Material& material, const std::string& checkpoint) {
  if (material.vocabulary) {
    save_vocabulary(vocabulary_beside(checkpoint), *material.vocabulary);
  } else {
    std::filesystem::remove(vocabulary_beside(checkpoint));
  }
}

// Held-out bits per token, with the lengths of the training.
double held_out_bits(const Settings& s, const TransformerXL& model, const std::vector<Index>& text) {
  return evaluate(model, text, s.model.segment_length, model.config.memory_length, s.model.batch).bits();
}

struct Result {
  double bits;  // per token, held out
  Index weights;
};

// Trains one model, saves it, and draws its held-out bits per token into `curve`.
Result train_model(const Settings& s, Index M, const Material& material, Series& curve, Table& table) {
  const Text& text = material.text;
  Random random(static_cast<std::uint64_t>(s.model.seed));
  TransformerXL model(make_config(s.model, material.V(), M), random);
  Streams streams(text.training, s.model.batch, s.model.segment_length, Tail::drop);
  const Index interval = std::max<Index>(s.model.steps / 10, 1);
  double bits = 0;
  const auto measure = [&](Index step, double loss) {
    bits = held_out_bits(s, model, text.held_out);
    table.add_row({M, step, loss / std::numbers::ln2, bits});
    curve.x.push_back(static_cast<double>(step));
    curve.y.push_back(bits);
  };
  const auto watch = [&](const StepReport& step) {
    if (step.step == s.model.steps || step.step % interval == 0) measure(step.step, step.loss);
    return curve.y.empty() ? "" : fmt::format("held out {:.3f} bits per {}", bits, s.token());
  };
  const TrainingRun run = run_training(
      fmt::format("training with M = {}", M), model, s.model, [&] { return streams.next(); }, watch);
  const std::string name = M == 0 ? "train_text_vanilla" : "train_text";
  const std::string checkpoint = fmt::format("{}/{}.safetensors", s.out, name);
  save_training(checkpoint, model, run.optimizer, run.state, streams.position(),
                material.vocabulary ? &*material.vocabulary : nullptr);
  save_words(material, checkpoint);
  // An interrupted run has no last measurement yet. It comes behind the checkpoint, which no second Ctrl-C shall lose.
  if (curve.x.empty() || curve.x.back() < static_cast<double>(run.state.step)) measure(run.state.step, run.loss);
  return {bits, parameter_count(run.optimizer.parameters)};
}

void print_summary(const std::vector<Index>& memory_lengths, const std::vector<Result>& results,
                   const std::string& bits) {
  fmt::print("\n");
  for (std::size_t k = 0; k < results.size(); ++k) {
    fmt::print("  M = {:<4} {} weights: {:.3f} {} held out\n", memory_lengths[k], results[k].weights, results[k].bits,
               bits);
  }
  if (results.size() < 2 || interrupted()) return;  // half a training compares with nothing
  const double gain = results[0].bits - results[1].bits;
  fmt::print("\nWith memory {:.3f} {} {}, at equal weights, segments and steps.\n", std::abs(gain), bits,
             gain > 0 ? "fewer" : "more");
}

void tell(const Settings& s) {
  check_choice("unit", s.unit, {"bytes", "words"});
  prepare(s.model, 256, s.memory_length, s.out);
  const Material material = read_material(s);
  const Text& text = material.text;
  check_length(text, s.model);
  fmt::print("{} {} to train on, the last {} of the text held out. Segments of T = {} {}, {} rows a step.\n\n",
             text.training.size(), s.unit, text.held_out.size(), s.model.segment_length, s.unit, s.model.batch);

  Chart chart;
  const std::string bits = "bits per " + s.token();
  chart.title = "Held-out " + bits + " while training";
  chart.description = "B" + bits.substr(1) + " on the held-out text against training steps, with memory and without.";
  chart.x = {"training steps"};
  chart.y = {bits};
  Table table({"memory_length", "step", "training_bits", "held_out_bits"});
  std::vector<Index> memory_lengths = {0};
  if (s.memory_length > 0) memory_lengths.push_back(s.memory_length);
  std::vector<Result> results;
  for (const Index M : memory_lengths) {
    if (interrupted()) break;
    chart.series.push_back({fmt::format("M = {}{}", M, M == 0 ? " (vanilla)" : ""), {}, {}});
    results.push_back(train_model(s, M, material, chart.series.back(), table));
  }
  if (results.empty()) return;  // interrupted before anything was trained
  print(chart);
  print_summary(memory_lengths, results, bits);
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
  arguments.add("memory_length", s.memory_length, "memory M in tokens; 0 trains only the vanilla Transformer", 0,
                65536);
  arguments.add("unit", s.unit, "what a token is: bytes or words");
  arguments.add("vocabulary_size", s.vocabulary_size, "the most words, with unit=words; all others are <unk>", 2,
                1000000);
  add_arguments(arguments, s.model);
  arguments.add("out", s.out, "folder for checkpoint, picture and numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
