// Where am I? Eight answers, on the same model, the same texts and the same number of steps.
//
// A memory needs positions that stay right when the segment is over. Those that start anew in every segment cannot tell
// one segment from the other; those that run on meet numbers nobody trained them for. Distances have neither trouble.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "autograd/shaping.hpp"
#include "examples/support/chart.hpp"
#include "examples/support/encodings.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/training.hpp"
#include "xl/rivals/model.hpp"
#include "xl/tasks/periodic_copy.hpp"
#include "xl/tools/evaluation.hpp"
#include "xl/tools/loss_by_position.hpp"

using namespace segue;

namespace {

struct Settings {
  ModelSettings model = {.steps = 800};
  std::string encodings = "all";
  std::string text = "";  // the project's own book and README
  Index memory_length = 32, period = 24, symbols = 16;
  Index text_steps = 500, table_rows = 96, beyond = 8, rows = 32;
  std::string out = "out";
};

struct Result {
  std::string name;
  Index weights;               // of the model for the copy
  std::vector<double> losses;  // of the copy at each position, to `beyond` times those of the training
  double copy, copy_beyond;    // nats, at positions of the training and behind them
  double bits;                 // per byte of the held-out text
};

// "none,shaw" as encodings whose tables have the lesson's rows.
std::vector<Encoding> chosen_encodings(const Settings& s) {
  std::vector<Encoding> chosen =
      encodings_of_argument("encodings", s.encodings == "all" ? names_of_all_encodings() : s.encodings);
  for (Encoding& encoding : chosen) encoding.rows = s.table_rows, encoding.clamp = true;
  return chosen;
}

// Segments a row of the copy lasts: until period and memory are full, and then four more.
Index segments_until_full(const Settings& s) {
  return (std::max(s.period, s.memory_length) - 1) / s.model.segment_length + 1;
}
Index segments_of_training(const Settings& s) { return segments_until_full(s) + 4; }

// The text is read in segments and with a memory twice as long, by a quarter of the rows.
ModelSettings text_settings(const Settings& s) {
  ModelSettings t = s.model;
  t.segment_length *= 2;
  t.batch = std::max<Index>(t.batch / 4, 1);
  t.steps = s.text_steps;
  return t;
}

double mean_of(const std::vector<double>& losses, Index first, Index last) {
  double total = 0;
  for (Index t = first; t < last; ++t) total += losses[static_cast<std::size_t>(t)] / static_cast<double>(last - first);
  return total;
}

// Trains a model on the copy and measures it on fresh rows that are `beyond` times as long.
void learn_copy(const Settings& s, const Encoding& encoding, Result& result) {
  const Index T = s.model.segment_length, segments = segments_of_training(s);
  Random random(static_cast<std::uint64_t>(s.model.seed));
  const auto model = make_model(make_config(s.model, s.symbols, s.memory_length), encoding, random);
  PeriodicCopy task(s.period, s.symbols, s.model.batch, T, segments, random);
  run_training(fmt::format("{}: copy", result.name), *model, s.model, [&] { return task.next(); });
  result.weights = parameter_count(parameters(*model));
  if (interrupted()) return;

  Random fresh(static_cast<std::uint64_t>(s.model.seed) + 1);
  PeriodicCopy longer(s.period, s.symbols, s.rows, T, segments * s.beyond, fresh);
  result.losses = loss_by_position(
      *model, [&] { return longer.next(); }, segments * s.beyond, s.memory_length);
  result.copy = mean_of(result.losses, segments_until_full(s) * T, segments * T);
  result.copy_beyond = mean_of(result.losses, segments * T, segments * T * s.beyond);
}

// Trains another model of the kind on a text and measures it on what was held out.
void learn_text(const Settings& s, const Encoding& encoding, const Text& text, Result& result) {
  const ModelSettings t = text_settings(s);
  Random random(static_cast<std::uint64_t>(t.seed));
  const auto model = make_model(make_config(t, 256, 2 * s.memory_length), encoding, random);
  Streams streams(text.training, t.batch, t.segment_length, Tail::drop);
  run_training(fmt::format("{}: text", result.name), *model, t, [&] { return streams.next(); });
  const auto go_on = [](Index, Index) { return !interrupted(); };
  result.bits = evaluate(*model, text.held_out, t.segment_length, 2 * s.memory_length, t.batch, go_on).bits();
}

void show_comparison(const Settings& s, const std::vector<Result>& results) {
  Chart chart;
  chart.title = "Position encodings, on two tasks";
  chart.description = "Each encoding as a point: its loss on the periodic copy and its bits per byte on a text.";
  chart.x = {"loss on the periodic copy", "nats", true};
  chart.y = {"text, bits per byte"};
  Table table({"encoding", "weights", "copy_nats", "copy_beyond_nats", "text_bits_per_byte"});
  for (const Result& r : results) {
    chart.series.push_back({r.name, {r.copy}, {r.bits}});
    table.add_row({r.name, r.weights, r.copy, r.copy_beyond, r.bits});
  }
  print(chart);
  fmt::print(
      "\nLeft and low is better.\n\n  {:<22}{:>9}{:>14}{:>18}\n"
      "  {:<22}{:>9}{:>14}{:>18}\n",
      "", "", "copy,", "text,", "encoding", "weights", "nats", "bits per byte");
  for (const Result& r : results) fmt::print("  {:<22}{:>9}{:>14.3f}{:>18.3f}\n", r.name, r.weights, r.copy, r.bits);
  double best = 0;
  for (Index i = 0; i < s.model.segment_length; ++i) {
    best +=
        periodic_copy_best_loss(s.memory_length, i, s.period, s.symbols) / static_cast<double>(s.model.segment_length);
  }
  fmt::print("  {:<31}{:>14.3f}\n  {:<31}{:>14.3f}\n", "theory: what one look allows", best, "theory: knowing nothing",
             std::log(static_cast<double>(s.symbols)));
  write_csv(s.out + "/position_encodings.csv", table);
  write_svg(s.out + "/position_encodings.svg", chart);
}

// Two segments "a b c d", and the scores that the last d has for all eight keys in the first layer.
void show_equal_scores(const Settings& s) {
  fmt::print(
      "\nFirst failure: two places with one code. Two segments say the same, \"a b c d\", and the last token looks\n"
      "for keys (first layer, first head, fresh weights: no training changes what is equal here):\n\n"
      "  {:<22}{:>7}{:>7}{:>7}{:>7} |{:>7}{:>7}{:>7}{:>7}     equal\n",
      "", "a", "b", "c", "d", "a", "b", "c", "d");
  const Tokens segment({1, 4}, {0, 1, 2, 3});
  for (const char* name : {"sinusoids_restarting", "sinusoids_running", "transformer_xl"}) {
    Random random(static_cast<std::uint64_t>(s.model.seed));
    const RivalTransformer model(make_config(s.model, 4, 4), encoding_named(name), random);
    const Memory memory = model(segment, empty_memory(model.config, 1, 4), Mode::evaluate()).memory;
    const Variable h = model.embed(segment, memory), context = concat({memory.layers[0], h}, 1);
    const Pass pass = model.pass(4, memory, Mode::evaluate());
    const Tensor scores = model.layers[0].attention.scores(h, context, pass).value();  // [1, H, 4, 8]
    fmt::print("  {:<22}", name);
    Index equal = 0;
    for (Index j = 0; j < 8; ++j) {
      fmt::print("{}{:>7.3f}", j == 4 ? " |" : "", scores.at({0, 0, 3, j}));
      if (j < 4 && scores.at({0, 0, 3, j}) == scores.at({0, 0, 3, j + 4})) ++equal;
    }
    fmt::print("{:>5} of 4\n", equal);
  }
}

// The mean loss of each segment against its middle.
Series by_segment(const Settings& s, const Result& r) {
  Series series = {r.name, {}, {}};
  const Index T = s.model.segment_length, length = static_cast<Index>(r.losses.size());
  for (Index t = segments_until_full(s) * T; t < length; t += T) {
    series.x.push_back(static_cast<double>(t) + static_cast<double>(T) / 2);
    series.y.push_back(mean_of(r.losses, t, t + T));
  }
  return series;
}

void show_beyond(const Settings& s, const std::vector<Result>& results) {
  const Index trained = segments_of_training(s) * s.model.segment_length;
  const double nothing = std::log(static_cast<double>(s.symbols));
  Chart chart;
  chart.title = "Positions beyond those of the training";
  chart.description = "Mean loss of each segment of the periodic copy against the position of its middle.";
  chart.x = {"position in the text", "tokens"};
  chart.y = {"loss", "nats"};
  chart.references = {{fmt::format("ln {} = {:.2f}", s.symbols, nothing), nothing},
                      {"end of training", static_cast<double>(trained), true}};
  Table table({"encoding", "position", "loss_nats"});
  for (const Result& r : results) {
    if (r.name == "sinusoids_running" || r.name == "transformer_xl") chart.series.push_back(by_segment(s, r));
    for (std::size_t t = 0; t < r.losses.size(); ++t) table.add_row({r.name, static_cast<Index>(t), r.losses[t]});
  }
  fmt::print("\nSecond failure: numbers nobody trained for. Training rows of the copy have {} tokens; these have {}.\n",
             trained, trained * s.beyond);
  if (!chart.series.empty()) {
    fmt::print("\n");
    print(chart);
    write_svg(s.out + "/position_encodings_beyond.svg", chart);
  }
  fmt::print("\n  {:<22}{:>16}{:>22}\n", "copy, nats", fmt::format("up to {}", trained),
             fmt::format("from {} to {}", trained, trained * s.beyond));
  for (const Result& r : results) fmt::print("  {:<22}{:>16.3f}{:>22.3f}\n", r.name, r.copy, r.copy_beyond);
  write_csv(s.out + "/position_encodings_beyond.csv", table);
}

void tell(const Settings& s) {
  const std::vector<Encoding> encodings = chosen_encodings(s);  // what makes no sense is said before anything else
  prepare(s.model, s.symbols, s.memory_length, s.out);
  const Text text = read_text(s.text);
  check_length(text, text_settings(s));
  fmt::print(
      "The same model with {} position encoding{}; each learns two tasks.\n"
      "Periodic copy: x[t] = x[t - P], P = {}, T = {}, M = {}, {} steps.\n"
      "Text: {} bytes, the last {} held out, T = {}, M = {}, {} steps.\n"
      "Learned tables have {} rows; what lies beyond takes the last one.\n\n",
      encodings.size(), encodings.size() == 1 ? "" : "s", s.period, s.model.segment_length, s.memory_length,
      s.model.steps, text.training.size() + text.held_out.size(), text.held_out.size(), 2 * s.model.segment_length,
      2 * s.memory_length, s.text_steps, s.table_rows);
  std::vector<Result> results;
  for (const Encoding& encoding : encodings) {
    Result result = {encoding_name(encoding), 0, {}, 0, 0, 0};
    learn_copy(s, encoding, result);
    if (!interrupted()) learn_text(s, encoding, text, result);
    if (interrupted()) break;  // what is half trained is not compared
    results.push_back(result);
  }
  if (results.empty()) return;
  show_comparison(s, results);
  show_equal_scores(s);
  show_beyond(s, results);
  fmt::print("\nPictures and numbers are in {0}/position_encodings*.svg and {0}/position_encodings*.csv.\n", s.out);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("position_encodings",
                      "Trains models that differ only in their position encoding, compares them, and shows how the "
                      "absolute ones fail.");
  arguments.add("encodings", s.encodings,
                "all, or names with commas between; transformer_xl:acd has three of the four terms");
  arguments.add("memory_length", s.memory_length, "memory M for the copy, in tokens; for the text twice as many", 0,
                4096);
  arguments.add("period", s.period, "period P of the copy, in tokens", 1, 4096);
  arguments.add("symbols", s.symbols, "size of the copy's alphabet V", 2, 65536);
  arguments.add("text", s.text, "file to learn from; empty for the project's own book and README");
  arguments.add("text_steps", s.text_steps, "training steps on the text", 1, most_steps);
  arguments.add("table_rows", s.table_rows, "rows of learned tables", 1, 65536);
  arguments.add("beyond", s.beyond, "how many times longer than in training the last rows are", 2, 64);
  arguments.add("rows", s.rows, "fresh rows to measure on", 1, 65536);
  add_arguments(arguments, s.model);
  arguments.add("out", s.out, "folder for pictures and numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
