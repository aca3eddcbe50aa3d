// Where gradients go, and where they stop.
//
// Three models learn the same text in equally many steps: a vanilla Transformer on separate segments, Transformer-XL,
// and Transformer-XL without its stop-gradient. Of each is measured how far back the loss of one token sends its
// gradient, how far back a token changes that loss, and what a training step costs in time and memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "examples/support/chart.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/progress.hpp"
#include "examples/support/training.hpp"
#include "xl/tasks/periodic_copy.hpp"
#include "xl/tools/gradient_flow.hpp"
#include "xl/tools/memory_view.hpp"
#include "xl/tools/step_costs.hpp"

using namespace segue;

namespace {

struct Settings {
  ModelSettings model = {.steps = 400};
  Index memory_length = 32, period = 24, symbols = 16, rows = 32;
  std::string out = "out";
};

struct Variant {
  std::string name;
  Index M;
  bool stop;
};

struct Measured {
  Variant variant;
  double loss;                   // nats, on fresh rows
  std::vector<double> gradient;  // by distance, like
  Influence influence;
  std::vector<ParameterNorm> norms;
  std::vector<StepCost> costs;  // of the first steps on one text
};

constexpr std::array<Index, 5> segment_counts = {1, 2, 4, 8, 16};

// Tokens behind the last prediction of a segment, if gradients may run through the memory.
Index reach(const Settings& s, Index M) {
  const Index T = s.model.segment_length;
  return tokens_in_reach(make_config(s.model, s.symbols, M), T, M, T - 1).back();
}

// Segments a row lasts: until everything that can have influence has been read, and one more.
Index segments_per_row(const Settings& s) {
  const Index farthest = std::max(reach(s, s.memory_length), s.period);
  return (farthest - 1) / s.model.segment_length + 2;
}

Random random_of(const Settings& s, std::uint64_t use) {
  return Random(static_cast<std::uint64_t>(s.model.seed) + use);
}

// Fresh rows in one piece, for the measuring by distance.
Reading fresh_text(const Settings& s, Index M) {
  Random random = random_of(s, 1);
  PeriodicCopy task(s.period, s.symbols, s.rows, segments_per_row(s) * s.model.segment_length + 1, 1, random);
  return {task.next().inputs, s.model.segment_length, M};
}

// The mean loss of the last segment of fresh rows, and the gradient it gives each parameter.
void measure_parameters(const Settings& s, TransformerXL& model, Measured& measured) {
  Random random = random_of(s, 2);
  PeriodicCopy task(s.period, s.symbols, s.rows, s.model.segment_length, segments_per_row(s), random);
  measured.loss = gradient_of_last_segment(
      model, [&] { return task.next(); }, s.rows, segments_per_row(s));
  measured.norms = gradient_norms(parameters(model));
}

// Nodes and bytes are the same in every run; of the times the shortest is the least disturbed.
void measure_costs(const Settings& s, TransformerXL& model, Measured& measured) {
  for (int run = 0; run < 3; ++run) {
    Random random = random_of(s, 3);
    PeriodicCopy task(s.period, s.symbols, s.model.batch, s.model.segment_length, segment_counts.back(), random);
    std::vector<StepCost> costs = step_costs(
        model, [&] { return task.next(); }, s.model.batch, segment_counts.back());
    for (std::size_t k = 0; k < measured.costs.size(); ++k) {
      costs[k].milliseconds = std::min(costs[k].milliseconds, measured.costs[k].milliseconds);
    }
    measured.costs = costs;
  }
}

Measured train_and_measure(const Settings& s, const Variant& variant) {
  Config config = make_config(s.model, s.symbols, variant.M);
  config.stop_memory_gradient = variant.stop;
  Random random = random_of(s, 0);
  TransformerXL model(config, random);
  PeriodicCopy task(s.period, s.symbols, s.model.batch, s.model.segment_length, segments_per_row(s), random);
  run_training("training " + variant.name, model, s.model, [&] { return task.next(); });

  Measured measured = {variant, 0, {}, {}, {}, {}};
  measure_parameters(s, model, measured);
  measure_costs(s, model, measured);
  const Reading reading = fresh_text(s, variant.M);
  measured.gradient = gradient_by_distance(model, reading);
  Progress progress("exchanging tokens", reading.length());
  measured.influence = influence_by_distance(model, reading, [&](Index done) {
    progress.update(done);
    return !interrupted();
  });
  return measured;
}

// How many tokens back, the last one included, the values reach that are not exactly 0.
Index measured_reach(const std::vector<double>& values) {
  const auto last = std::find_if(values.rbegin(), values.rend(), [](double value) { return value != 0; });
  return static_cast<Index>(values.rend() - last);
}

Chart chart_by_distance(const Settings& s, const std::vector<Measured>& all,
                        const std::function<std::vector<double>(const Measured&)>& values_of) {
  Chart chart;
  chart.x = {"distance before the last token", "tokens"};
  chart.references = {{"segment boundary", static_cast<double>(s.model.segment_length) - 0.5, true},
                      {fmt::format("P - 1 = {}", s.period - 1), static_cast<double>(s.period - 1), true}};
  for (const Measured& m : all) {
    Series series = {m.variant.name, {}, values_of(m)};
    for (std::size_t d = 0; d < series.y.size(); ++d) series.x.push_back(static_cast<double>(d));
    chart.series.push_back(series);
  }
  return chart;
}

void draw(const Settings& s, const std::vector<Measured>& all) {
  Chart gradient = chart_by_distance(s, all, [](const Measured& m) { return m.gradient; });
  gradient.title = "How far back the last loss sends its gradient";
  gradient.description = "Norm of the gradient of the last token's loss in the state at each distance before it.";
  gradient.y = {"norm of the gradient", "nats per unit", true};
  print(gradient);
  write_svg(s.out + "/gradient_flow.svg", gradient);
  Chart influence = chart_by_distance(s, all, [](const Measured& m) { return m.influence.logits; });
  influence.title = "How far back a token changes the last prediction";
  influence.description = "Change of the last logits when the token at each distance before them is exchanged.";
  influence.y = {"norm of the change of the logits", "", true};
  fmt::print("\n");
  print(influence);
  write_svg(s.out + "/gradient_flow_influence.svg", influence);
}

// "0" means exactly 0.
std::string in_short(double value) {
  return value == 0 ? "0" : value < 0.01 ? fmt::format("{:.1e}", value) : fmt::format("{:.2f}", value);
}

void print_reach(const Settings& s, const std::vector<Measured>& all) {
  const std::size_t source = static_cast<std::size_t>(s.period) - 1;
  fmt::print(
      "\nHow many tokens back gradient and influence reach, the last token included, beside theory. At distance\n"
      "P - 1 = {} stands the symbol to be copied: what another one there does to the loss, and the gradient there.\n\n"
      "                     loss   gradient reaches   influence reaches   at {}: gradient  change of loss\n",
      source, source);
  for (const Measured& m : all) {
    const Index T = s.model.segment_length, seen = reach(s, m.variant.M);
    const bool whole = m.influence.logits.size() == m.gradient.size();  // unless interrupted
    fmt::print("  {:<16} {:>6.3f}   {:>4} (theory {:>3})   {:>5} (theory {:>3})    {:>13}  {:>14}\n", m.variant.name,
               m.loss, measured_reach(m.gradient), m.variant.stop ? T : seen,
               whole ? fmt::format("{}", measured_reach(m.influence.logits)) : "-", seen, in_short(m.gradient[source]),
               whole ? in_short(m.influence.loss[source]) : "-");
  }
}

void print_costs(const std::vector<Measured>& all) {
  const auto line = [](const std::string& name, const char* what, const Measured& m, auto value) {
    fmt::print("  {:<16} {:<18}", name, what);
    for (const Index count : segment_counts) fmt::print("{:>9}", value(m.costs[static_cast<std::size_t>(count) - 1]));
    fmt::print("\n");
  };
  const auto megabytes = [](std::size_t bytes) { return fmt::format("{:.2f}", static_cast<double>(bytes) / 1e6); };
  fmt::print(
      "\nWhat a training step costs, and what lives on after it, by the number of segments read so far:\n\n"
      "  segments                          ");
  for (const Index count : segment_counts) fmt::print("{:>9}", count);
  fmt::print("\n");
  for (const Measured& m : all) {
    line(m.variant.name, "milliseconds", m, [](const StepCost& c) { return fmt::format("{:.1f}", c.milliseconds); });
    line("", "nodes alive after", m, [](const StepCost& c) { return fmt::format("{}", c.nodes); });
    line("", "megabytes after", m, [&](const StepCost& c) { return megabytes(c.bytes); });
    line("", "megabytes at most", m, [&](const StepCost& c) { return megabytes(c.peak_bytes); });
  }
}

void print_norms(const std::vector<Measured>& all) {
  fmt::print("\nNorm of the gradient of the mean loss of one segment, in each parameter:\n\n  {:<32}", "");
  for (const Measured& m : all) fmt::print("{:>18}", m.variant.name);
  fmt::print("\n");
  for (std::size_t p = 0; p < all[0].norms.size(); ++p) {
    fmt::print("  {:<32}", all[0].norms[p].name);
    for (const Measured& m : all) fmt::print("{:>18.1e}", m.norms[p].norm);
    fmt::print("\n");
  }
}

void write_tables(const Settings& s, const std::vector<Measured>& all) {
  Table distances({"model", "distance", "gradient_norm", "logits_change", "loss_change_nats"});
  Table norms({"model", "parameter", "size", "gradient_norm"});
  Table costs({"model", "segments", "milliseconds", "nodes_after", "bytes_after", "bytes_at_most"});
  for (const Measured& m : all) {
    for (std::size_t d = 0; d < m.gradient.size(); ++d) {
      const bool known = d < m.influence.logits.size();  // unless interrupted
      distances.add_row({m.variant.name, static_cast<Index>(d), m.gradient[d],
                         known ? Cell(m.influence.logits[d]) : Cell(""), known ? Cell(m.influence.loss[d]) : Cell("")});
    }
    for (const ParameterNorm& p : m.norms) norms.add_row({m.variant.name, p.name, p.size, p.norm});
    for (std::size_t k = 0; k < m.costs.size(); ++k) {
      const StepCost& c = m.costs[k];
      costs.add_row({m.variant.name, static_cast<Index>(k + 1), c.milliseconds, Index(c.nodes),
                     static_cast<Index>(c.bytes), static_cast<Index>(c.peak_bytes)});
    }
  }
  write_csv(s.out + "/gradient_flow.csv", distances);
  write_csv(s.out + "/gradient_flow_parameters.csv", norms);
  write_csv(s.out + "/gradient_flow_costs.csv", costs);
}

void tell(const Settings& s) {
  prepare(s.model, s.symbols, s.memory_length, s.out);
  fmt::print(
      "Each row repeats a random block of P = {} symbols, cut into segments of T = {}. Three models learn it, in {}\n"
      "step{} each: without memory, with a memory of M = {}, and with one that gradients may run through.\n\n",
      s.period, s.model.segment_length, s.model.steps, s.model.steps == 1 ? "" : "s", s.memory_length);
  const std::vector<Variant> variants = {
      {"vanilla", 0, true}, {"Transformer-XL", s.memory_length, true}, {"no stop-gradient", s.memory_length, false}};
  std::vector<Measured> all;
  for (const Variant& variant : variants) {
    if (interrupted()) break;
    all.push_back(train_and_measure(s, variant));
  }
  if (all.empty()) return;  // interrupted before anything was trained
  draw(s, all);
  print_reach(s, all);
  print_costs(all);
  print_norms(all);
  write_tables(s, all);
  fmt::print(
      "\nThe pictures are in {0}/gradient_flow.svg and {0}/gradient_flow_influence.svg, the numbers are in\n"
      "{0}/gradient_flow.csv, {0}/gradient_flow_parameters.csv and {0}/gradient_flow_costs.csv.\n",
      s.out);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("gradient_flow",
                      "Measures how far gradients and influence reach back in models with and without memory and "
                      "stop-gradient, and what a training step costs.");
  arguments.add("memory_length", s.memory_length, "memory M of the two models that have one, in tokens", 1, 4096);
  arguments.add("period", s.period, "period P of the text, in tokens", 1, 4096);
  arguments.add("symbols", s.symbols, "size of the alphabet V", 2, 65536);
  arguments.add("rows", s.rows, "fresh rows to measure on", 1, 65536);
  add_arguments(arguments, s.model);
  arguments.add("out", s.out, "folder for the pictures and the numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
