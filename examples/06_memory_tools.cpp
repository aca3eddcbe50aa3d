// What a memory costs, and three tools that look after it.
//
// One model is trained four times from the same seed: plain, with a memory of 8 bits, with each layer computed again in
// backward instead of kept, and with both. One table tells what each way takes and what it gives. Then a NaN and a huge
// state are planted in the memory, found, and one of them mended.
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <limits>
#include <memory>
#include <set>
#include <vector>

#include "autograd/backward.hpp"
#include "examples/support/chart.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/training.hpp"
#include "nn/loss.hpp"
#include "tensor/storage.hpp"
#include "xl/sinusoids.hpp"
#include "xl/tools/evaluation.hpp"
#include "xl/tools/memory_8bit.hpp"
#include "xl/tools/memory_check.hpp"
#include "xl/tools/memory_view.hpp"
#include "xl/tools/recomputation.hpp"

using namespace segue;

namespace {

struct Settings {
  ModelSettings model = {
      .segment_length = 32, .layers = 4, .steps = 400, .batch = 8, .learning_rate = 0.003, .dropout = 0.1};
  std::string text = "";  // the project's own book and README
  Index memory_length = 64;
  std::vector<Index> depths = {1, 2, 4, 8, 12};
  std::string out = "out";
};

struct Way {
  std::string name;
  bool eight_bit = false;   // the memory comes back from 8 bits after every segment
  bool recomputed = false;  // layers are computed again in backward
};

struct Result {
  Way way;
  Index memory_bytes = 0;                    // of the states handed from one segment to the next
  std::size_t peak_bytes = 0;                // the most that tensors of this training held at one time
  double seconds = 0;                        // of the processor, whatever else the machine does
  double bits = 0, bits_read_in_8_bits = 0;  // per byte of text, held out
  std::vector<std::vector<Real>> weights;
  Memory memory;
};

std::unique_ptr<TransformerXL> make_model(const Config& config, bool recomputed, std::uint64_t seed) {
  Random random(seed);
  auto model = std::make_unique<TransformerXL>(config, random);
  if (recomputed) model->run_layer = recompute_layer;
  return model;
}

Result train_one(const Settings& s, const Way& way, const Text& text) {
  Result result;
  result.way = way;
  const std::size_t before = tensor_bytes();
  reset_peak_tensor_bytes();
  const Config config = make_config(s.model, 256, s.memory_length);
  const auto model = make_model(config, way.recomputed, static_cast<std::uint64_t>(s.model.seed));
  EightBitMemoryModel coded(*model);
  LanguageModel& learner = way.eight_bit ? static_cast<LanguageModel&>(coded) : *model;

  Streams streams(text.training, s.model.batch, s.model.segment_length, Tail::drop);
  const std::clock_t start = std::clock();
  const TrainingRun run = run_training(way.name, learner, s.model, [&] { return streams.next(); });
  result.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  result.peak_bytes = peak_tensor_bytes() - before;

  result.memory = run.state.memory;
  result.memory_bytes = way.eight_bit ? state_bytes(compress(result.memory)) : state_bytes(result.memory);
  const auto held_out_bits = [&](const LanguageModel& reader) {
    const auto go_on = [](Index, Index) { return !interrupted(); };
    return evaluate(reader, text.held_out, s.model.segment_length, s.memory_length, s.model.batch, go_on).bits();
  };
  result.bits = held_out_bits(learner);
  result.bits_read_in_8_bits = way.eight_bit ? result.bits : held_out_bits(coded);
  for (const Parameter& p : run.optimizer.parameters) result.weights.push_back(p.variable.value().to_vector());
  return result;
}

void print_reach(const Settings& s, const Config& config) {
  const Index T = s.model.segment_length, M = s.memory_length;
  fmt::print("How many tokens are behind the last position of a segment, T = {} and M = {}:\n", T, M);
  const std::vector<Index> reach = tokens_in_reach(config, T, M, T - 1);
  for (std::size_t n = 1; n < reach.size(); ++n) {
    fmt::print("  after {} {:<7} {:>5}\n", n, n == 1 ? "layer" : "layers", reach[n]);
  }
  fmt::print("\n");
}

void print_table(const std::vector<Result>& results) {
  const char* columns = "  {:<14} {:>16} {:>16} {:>12} {:>14}\n";
  fmt::print(fmt::runtime(columns), "", "bytes of memory", "peak bytes of", "seconds of", "bits per byte");
  fmt::print(fmt::runtime(columns), "", "between segments", "training", "processor", "held out");
  for (const Result& r : results) {
    fmt::print(fmt::runtime(columns), r.way.name, r.memory_bytes, r.peak_bytes, fmt::format("{:.1f}", r.seconds),
               fmt::format("{:.4f}", r.bits));
  }
  fmt::print("\n");
}

// Without a minus before zeros.
double rounded(double bits) { return std::round(bits * 1e5) / 1e5 + 0.0; }

// What the table says, beside what theory says.
void print_summary(const Settings& s, const std::vector<Result>& results) {
  const Result& plain = results[0];
  const double D = static_cast<double>(s.model.width), number = static_cast<double>(sizeof(Real));
  fmt::print("8-bit memory:\n");
  if (plain.memory_bytes > 0) {
    fmt::print("  {:.1f} % of the bytes (theory (D + 4) / {} D = {:.1f} %)\n",
               100 * static_cast<double>(results[1].memory_bytes) / static_cast<double>(plain.memory_bytes),
               sizeof(Real), 100 * (D + 4) / (number * D));
  }
  fmt::print("  {:+.5f} bits per byte for the plain model, read with it\n",
             rounded(plain.bits_read_in_8_bits - plain.bits));
  fmt::print("  {:+.5f} bits per byte for a model trained and read with it\n", rounded(results[1].bits - plain.bits));
  if (results.size() < 4) return;
  const bool same = results[2].weights == plain.weights && results[3].weights == results[1].weights;
  fmt::print("Recomputed layers:\n");
  fmt::print("  weights after {} steps with dropout: {}\n", s.model.steps,
             same ? "the same, bit for bit" : "NOT the same");
  fmt::print("  {:.0f} % of the peak bytes, {:.2f} times the seconds (4/3 where backward costs two forward passes)\n\n",
             100 * static_cast<double>(results[2].peak_bytes) / static_cast<double>(plain.peak_bytes),
             results[2].seconds / plain.seconds);
}

void plant(Memory& memory, std::size_t layer, Index row, Index position, Real value) {
  Tensor states = memory.layers[layer].value().clone();
  states.set_in_place({row, position, 0}, value);
  memory.layers[layer] = Variable(states);
}

void show_check(Memory memory) {
  if (memory.length() == 0) return;  // there is nothing to look at
  const Index last_row = memory.batch() - 1, last_position = memory.length() - 1;
  fmt::print("The memory after training, checked: {}", to_text(check_memory(memory)));
  plant(memory, 0, last_row, 0, std::numeric_limits<Real>::quiet_NaN());
  plant(memory, memory.layers.size() - 1, 0, last_position, Real(12345));
  fmt::print("With two numbers planted:\n{}", to_text(check_memory(memory)));
  fmt::print("Stabilised to norms of at most 100:\n{}\n", to_text(check_memory(stabilise(memory, 100))));
}

// One segment of random bytes behind a full memory.
struct Step {
  Step(const Settings& s, const Config& config)
      : tokens({s.model.batch, s.model.segment_length}), memory(empty_memory(config, s.model.batch, s.memory_length)) {
    Random random(1);
    for (Index& token : tokens.ids) token = random.below(256);
    for (Variable& m : memory.layers) m = Variable(random.normal({s.model.batch, s.memory_length, config.width}, 0, 1));
    memory.tokens_read.assign(memory.tokens_read.size(), s.memory_length);
  }
  Tokens tokens;
  Memory memory;
};

// The most bytes that forward and backward add to weights, gradients and memory.
double peak_of_step(const TransformerXL& model, const Step& step) {
  std::size_t before = 0;
  for (int pass = 0; pass < 2; ++pass) {  // the first leaves the gradients in place
    before = tensor_bytes();
    reset_peak_tensor_bytes();
    Random random(1);
    const Output output = model(step.tokens, step.memory, Mode::train(random));
    backward(mean_cross_entropy(output.logits, step.tokens).loss);
  }
  return static_cast<double>(peak_tensor_bytes() - before);
}

// What the graph of one layer keeps for its backward, counted by itself.
double bytes_of_a_layer(const Settings& s, const Config& config) {
  const Step step(s, config);
  Random random(1);
  const Layer layer(config, random);
  const Index K = s.memory_length + s.model.segment_length;
  const Variable zeros = parameter(Tensor::zeros({config.heads, config.head_width}));
  const Pass pass = {config,
                     Mode::train(random),
                     Variable(distance_sinusoids(K, 0, config.width)),
                     zeros,
                     zeros,
                     visible_keys(s.model.segment_length, step.memory, 0)};
  const Variable h = parameter(random.normal({s.model.batch, s.model.segment_length, config.width}, 0, 1));
  const std::size_t before = tensor_bytes();
  const Variable z = layer(h, step.memory.layers[0], pass);
  return static_cast<double>(tensor_bytes() - before);
}

struct Depth {
  Index layers;
  double plain, plain_theory, recomputed, recomputed_theory;  // peak bytes of a step
};

// Measured for several depths, beside a count of what must be kept at one time: the graphs of all layers, or the inputs
// of all and the graph of one. Each layer also hands on its memory.
std::vector<Depth> measure_depths(const Settings& s) {
  Config config = make_config(s.model, 256, s.memory_length);
  const double position = static_cast<double>(s.model.batch * config.width) * static_cast<double>(sizeof(Real));
  const double input = position * static_cast<double>(s.model.segment_length);
  const double handed_on = position * static_cast<double>(s.memory_length);
  const double graph = bytes_of_a_layer(s, config);
  double beside = 0;  // embedding, logits and loss: taken from the first plain model
  std::vector<Depth> depths;
  for (const Index N : std::set<Index>(s.depths.begin(), s.depths.end())) {
    if (interrupted()) break;
    config.layers = N;
    const Step step(s, config);
    const double n = static_cast<double>(N);
    const double plain = peak_of_step(*make_model(config, false, 1), step);
    const double recomputed = peak_of_step(*make_model(config, true, 1), step);
    if (depths.empty()) beside = plain - n * (graph + handed_on);
    depths.push_back(
        {N, plain, beside + n * (graph + handed_on), recomputed, beside + n * (input + handed_on) + graph});
  }
  return depths;
}

Chart chart_of(const std::vector<Depth>& depths) {
  Chart chart;
  chart.title = "Peak bytes of a training step";
  chart.description = "Peak bytes of a step against layers, with layers kept and recomputed, beside theory.";
  chart.x = {"layers N"};
  chart.y = {"forward and backward", "MB"};
  const auto add = [&](const std::string& name, Kind kind, double Depth::*bytes) {
    Series series{name, {}, {}, kind};
    for (const Depth& depth : depths) {
      series.x.push_back(static_cast<double>(depth.layers));
      series.y.push_back(depth.*bytes / 1e6);
    }
    chart.series.push_back(series);
  };
  add("plain", Kind::theory, &Depth::plain_theory);
  add("recomputed", Kind::theory, &Depth::recomputed_theory);
  add("plain", Kind::measured, &Depth::plain);
  add("recomputed", Kind::measured, &Depth::recomputed);
  return chart;
}

void print_growth(const std::vector<Depth>& depths) {
  if (depths.size() < 2) return;
  const Depth &first = depths.front(), &last = depths.back();
  const auto growth = [&](double Depth::*bytes) {
    return (last.*bytes - first.*bytes) / static_cast<double>(last.layers - first.layers);
  };
  fmt::print(
      "A layer more adds to the peak of a step:\n"
      "  plain {:>16.0f} bytes (theory {:.0f}: its graph and its memory)\n"
      "  recomputed {:>11.0f} bytes (theory {:.0f}: its input and its memory)\n",
      growth(&Depth::plain), growth(&Depth::plain_theory), growth(&Depth::recomputed),
      growth(&Depth::recomputed_theory));
}

void tell(const Settings& s) {
  const Config config = make_config(s.model, 256, s.memory_length);  // nonsense is to be said before anything else
  make_folder(s.out);
  set_thread_count(static_cast<int>(s.model.threads));
  const Text text = read_text(s.text);
  check_length(text, s.model);
  print_reach(s, config);

  std::vector<Result> results;
  for (const Way& way : {Way{"plain", false, false}, Way{"8-bit", true, false}, Way{"recomputed", false, true},
                         Way{"both", true, true}}) {
    const Result result = train_one(s, way, text);
    if (interrupted()) break;  // half a training compares with nothing
    results.push_back(result);
  }
  if (results.empty()) return;
  Table table({"way", "memory_bytes", "peak_bytes", "seconds", "held_out_bits"});
  for (const Result& r : results) {
    table.add_row({r.way.name, r.memory_bytes, static_cast<double>(r.peak_bytes), r.seconds, r.bits});
  }
  print_table(results);
  if (results.size() > 1) print_summary(s, results);
  show_check(results[0].memory);

  write_csv(s.out + "/memory_tools.csv", table);
  const std::vector<Depth> depths = measure_depths(s);
  if (depths.empty()) {  // interrupted
    fmt::print("The numbers are in {}/memory_tools.csv.\n", s.out);
    return;
  }
  const Chart chart = chart_of(depths);
  print(chart);
  fmt::print("\n");
  print_growth(depths);
  Table peaks({"layers", "plain_bytes", "plain_theory", "recomputed_bytes", "recomputed_theory"});
  for (const Depth& d : depths) {
    peaks.add_row({d.layers, d.plain, d.plain_theory, d.recomputed, d.recomputed_theory});
  }
  write_csv(s.out + "/memory_tools_depths.csv", peaks);
  write_svg(s.out + "/memory_tools.svg", chart);
  fmt::print(
      "\nThe picture is in {0}/memory_tools.svg, the numbers are in {0}/memory_tools.csv and "
      "{0}/memory_tools_depths.csv.\n",
      s.out);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("memory_tools",
                      "Trains a model with a plain and an 8-bit memory, with and without recomputed layers, and "
                      "compares bytes, seconds and loss.");
  arguments.add("text", s.text, "file to learn from; empty for the project's own book and README");
  arguments.add("memory_length", s.memory_length, "memory M in bytes of text", 0, 65536);
  arguments.add("depths", s.depths, "layers of the models in the chart", 1, 64);
  add_arguments(arguments, s.model);
  arguments.add("out", s.out, "folder for the picture and the numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
