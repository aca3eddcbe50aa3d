// Context fragmentation, seen and removed.
//
// A text that repeats a random block of P symbols is cut into segments of T < P tokens. A vanilla Transformer sees one
// segment at a time, so what it would have to copy always lies behind the cut. Transformer-XL keeps the states of
// earlier segments in a memory; where memory and segment together reach back P - 1 tokens, it knows the next one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "examples/support/chart.hpp"
#include "examples/support/heat_map.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/training.hpp"
#include "tensor/elementwise.hpp"
#include "xl/model.hpp"
#include "xl/tasks/periodic_copy.hpp"
#include "xl/tools/attention_map.hpp"
#include "xl/tools/loss_by_position.hpp"

using namespace segue;

namespace {

struct Settings {
  ModelSettings model;
  std::vector<Index> memory_lengths = {0, 16, 32};
  Index period = 24, symbols = 16, rows = 64;
  std::string out = "out";
};

// Segments a row lasts: until period and memory are full, and then those that are measured.
constexpr Index measured_segments = 4;
Index segments_per_row(const Settings& s, Index M) {
  return (std::max(s.period, M) - 1) / s.model.segment_length + 1 + measured_segments;
}

TransformerXL train_model(const Settings& s, Index M) {
  Random random(static_cast<std::uint64_t>(s.model.seed));
  TransformerXL model(make_config(s.model, s.symbols, M), random);
  PeriodicCopy task(s.period, s.symbols, s.model.batch, s.model.segment_length, segments_per_row(s, M), random);
  run_training(fmt::format("training with M = {}", M), model, s.model, [&] { return task.next(); });
  return model;
}

// The loss at each position of a segment, over fresh rows, once the first period and the memory are full.
std::vector<double> measure(const Settings& s, const TransformerXL& model) {
  const Index M = model.config.memory_length, T = s.model.segment_length, segments = segments_per_row(s, M);
  Random random(static_cast<std::uint64_t>(s.model.seed) + 1);
  PeriodicCopy task(s.period, s.symbols, s.rows, T, segments, random);
  const std::vector<double> losses = loss_by_position(
      model, [&] { return task.next(); }, segments, M);
  return loss_by_place(losses, T, segments - measured_segments);
}

// One line a memory: where theory says the next token can be known, and what was measured there and elsewhere.
void print_summary(const Settings& s, Index M, const std::vector<double>& losses) {
  double known = 0, unknown = 0;
  Index known_positions = 0;
  for (Index i = 0; i < s.model.segment_length; ++i) {
    const bool in_reach = M + i >= s.period - 1;
    (in_reach ? known : unknown) += losses[static_cast<std::size_t>(i)];
    known_positions += in_reach ? 1 : 0;
  }
  const Index unknown_positions = s.model.segment_length - known_positions;
  fmt::print("  M = {:<3} ", M);
  if (known_positions > 0) {
    fmt::print(" in reach {:>2} to {:<2}: {:.3f} nats (theory 0.000)", unknown_positions, s.model.segment_length - 1,
               known / static_cast<double>(known_positions));
  }
  if (unknown_positions > 0) {
    fmt::print(" out of reach {:>2} to {:<2}: {:.3f} nats (theory {:.3f})", 0, unknown_positions - 1,
               unknown / static_cast<double>(unknown_positions), std::log(static_cast<double>(s.symbols)));
  }
  fmt::print("\n");
}

// Where the head that looks most at distance P - 1 looks in the last segment of fresh rows; says how much it does.
HeatMap attention_picture(const Settings& s, const TransformerXL& model) {
  const Index M = model.config.memory_length, T = s.model.segment_length, segments = segments_per_row(s, M);
  Random random(static_cast<std::uint64_t>(s.model.seed) + 1);
  PeriodicCopy task(s.period, s.symbols, s.rows, T, segments, random);
  const NoGradientGuard no_gradient;
  Memory memory = empty_memory(model.config, s.rows, M);
  for (Index k = 1; k < segments; ++k) memory = model(task.next().inputs, memory, Mode::evaluate()).memory;
  const std::vector<Tensor> maps = attention_maps(model, task.next().inputs, memory);
  const HeadAtDistance best = strongest_head(maps, s.period - 1);
  if (best.weight > 0) {
    fmt::print("\nWith M = {}, head {} of layer {} puts {:.3f} of its weight on the key at distance P - 1 = {}.\n", M,
               best.head + 1, best.layer + 1, best.weight, s.period - 1);
  } else {
    fmt::print("\nWith M = {}, no query has a key at distance P - 1 = {}.\n", M, s.period - 1);
  }
  HeatMap map;
  map.title = fmt::format("Where head {} of layer {} looks, M = {}", best.head + 1, best.layer + 1, M);
  map.description = "Weight from each query of a segment to each key of memory and segment, a mean over rows.";
  map.x = {"key", "tokens from the start of the segment"};
  map.y = {"query", "position"};
  map.value = {"weight"};
  const Tensor weights = head_map(maps[static_cast<std::size_t>(best.layer)], best.head);  // [T, K]
  const Tensor later = attention_mask(visible_keys(T, memory, 0)).reshape(weights.shape());
  map.values = masked_fill(weights, later, std::numeric_limits<Real>::quiet_NaN());  // keys yet to come have no weight
  map.first_x = static_cast<double>(-M);
  map.boundaries = {{"memory | segment", 0, true}};
  return map;
}

Chart empty_chart(const Settings& s) {
  const double ignorance = std::log(static_cast<double>(s.symbols));
  Chart chart;
  chart.title = "Context fragmentation, and its cure";
  chart.description = "Loss at each position of a segment for several memory lengths, beside what theory allows.";
  chart.x = {"position in the segment", "tokens"};
  chart.y = {"loss", "nats"};
  chart.references = {{fmt::format("ln {} = {:.2f}", s.symbols, ignorance), ignorance}};
  return chart;
}

void tell(const Settings& s) {
  prepare(s.model, s.symbols, 0, s.out);
  fmt::print(
      "Each row repeats a random block of P = {} symbols, cut into segments of T = {}.\n"
      "The next token is known to whoever sees P - 1 = {} tokens back: with a memory of M tokens,\n"
      "at the positions i with M + i >= {}. Anywhere else {} symbols are equally likely: ln {} = {:.2f} nats.\n\n",
      s.period, s.model.segment_length, s.period - 1, s.period - 1, s.symbols, s.symbols,
      std::log(static_cast<double>(s.symbols)));

  Chart chart = empty_chart(s);
  Table table({"memory_length", "position", "loss_nats", "theory_nats"});
  std::vector<std::vector<double>> results;
  std::optional<TransformerXL> longest;  // the model with the longest memory
  for (const Index M : s.memory_lengths) {
    if (interrupted()) break;
    TransformerXL model = train_model(s, M);
    results.push_back(measure(s, model));
    if (!longest || M > longest->config.memory_length) longest = std::move(model);
    Series measured = {fmt::format("M = {}{}", M, M == 0 ? " (vanilla)" : ""), {}, results.back()};
    Series theory = {measured.name, {}, {}, Kind::theory, true};
    for (Index i = 0; i < s.model.segment_length; ++i) {
      const double best = periodic_copy_best_loss(M, i, s.period, s.symbols);
      measured.x.push_back(static_cast<double>(i));
      theory.x.push_back(static_cast<double>(i));
      theory.y.push_back(best);
      table.add_row({M, i, measured.y[static_cast<std::size_t>(i)], best});
    }
    chart.series.push_back(theory);
    chart.series.push_back(measured);
  }
  print(chart);
  fmt::print("\nLoss by position in the segment, over {} fresh rows:\n", s.rows);
  for (std::size_t k = 0; k < results.size(); ++k) print_summary(s, s.memory_lengths[k], results[k]);
  if (longest) write_svg(s.out + "/context_fragmentation_attention.svg", attention_picture(s, *longest));
  write_csv(s.out + "/context_fragmentation.csv", table);
  write_svg(s.out + "/context_fragmentation.svg", chart);
  fmt::print(
      "\nThe picture is in {0}/context_fragmentation.svg, the numbers are in {0}/context_fragmentation.csv,\n"
      "and where that head looks is in {0}/context_fragmentation_attention.svg.\n",
      s.out);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("context_fragmentation",
                      "Trains models that differ only in their memory and shows which positions of a segment they can "
                      "predict.");
  arguments.add("memory_lengths", s.memory_lengths, "memory M of each model, in tokens; 0 is the vanilla Transformer",
                0, 4096);
  arguments.add("period", s.period, "period P of the text, in tokens", 1, 4096);
  arguments.add("symbols", s.symbols, "size of the alphabet V", 2, 65536);
  arguments.add("rows", s.rows, "fresh rows to measure on", 1, 65536);
  add_arguments(arguments, s.model);
  arguments.add("out", s.out, "folder for the picture and the numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
