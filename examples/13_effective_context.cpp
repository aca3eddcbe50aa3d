// How far back a model can see, and how much of that it makes use of.
//
// A layer that reads a memory sees M tokens beyond its segment, N layers N M: that is the reach in theory. The reach in
// fact is measured twice: on a text in which each symbol can be known by a given number of looks and by no fewer, with
// the stop-gradient and without it; and on a real text, as the paper's relative effective context length.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "examples/support/chart.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/progress.hpp"
#include "examples/support/training.hpp"
#include "xl/rivals/model.hpp"
#include "xl/tasks/periodic_copy.hpp"
#include "xl/tools/effective_context.hpp"
#include "xl/tools/evaluation.hpp"
#include "xl/tools/loss_by_position.hpp"
#include "xl/tools/memory_view.hpp"

using namespace segue;

namespace {

struct Settings {
  ModelSettings model = {.segment_length = 4, .layers = 3, .steps = 1000, .batch = 16, .learning_rate = 0.003};
  Index memory_length = 4, symbols = 16, seeds = 3;
  std::vector<Index> periods = {5, 9, 13};
  std::string text = "";  // the project's own book and README
  Index text_segment_length = 16, text_memory_length = 32, text_layers = 2, text_steps = 1500;
  Index context_step = 8, targets = 1000;
  std::string out = "out";
};

struct Mean {
  double total = 0;
  Index count = 0;
  void add(double value) { total += value, ++count; }
  double value() const { return total / static_cast<double>(count); }
};

// What is known of all that takes a certain number of looks.
struct Looks {
  Mean loss;
  Index known = 0, runs = 0;  // known: the loss is less than half of that of knowing nothing
};

// Models of N layers, one for each period and seed.
struct Measured {
  Index N;
  bool stop;                          // the stop-gradient
  std::map<Index, Mean> by_distance;  // of the wanted token behind the start of the segment
  std::map<Index, Looks> by_looks;
};

std::string name_of(bool stop) { return stop ? "Transformer-XL" : "no stop-gradient"; }

ModelSettings with_layers(const Settings& s, Index N, Index run) {
  ModelSettings m = s.model;
  m.layers = N;
  m.seed += run;
  return m;
}

// The token to be copied stands P - 1 places before position i: how many layers must there be for it to be in reach?
Index looks_needed(const Settings& s, Index P, Index i) {
  const Config deep = make_config(with_layers(s, P, 0), s.symbols, s.memory_length);
  const std::vector<Index> reach = tokens_in_reach(deep, s.model.segment_length, s.memory_length, i);
  return std::lower_bound(reach.begin(), reach.end(), P) - reach.begin();
}

// Where one look is enough, or all layers are too few, theory and every run agree, and one run is enough.
Index runs_of(const Settings& s, Index N, Index P) {
  const Index looks = looks_needed(s, P, 0);
  return looks > 1 && looks <= N ? s.seeds : 1;
}

// Trains a model and measures the loss on fresh rows at each position of a segment, behind the first period.
std::vector<double> learn_copy(const Settings& s, Index N, Index P, bool stop, Index run) {
  const ModelSettings m = with_layers(s, N, run);
  const Index T = m.segment_length, first = (P - 1) / T + 1, segments = first + 2;
  Config config = make_config(m, s.symbols, s.memory_length);
  config.stop_memory_gradient = stop;
  Random random(static_cast<std::uint64_t>(m.seed));
  TransformerXL model(config, random);
  PeriodicCopy task(P, s.symbols, m.batch, T, segments, random);
  run_training(fmt::format("N = {}, P = {}, {}, seed {}", N, P, name_of(stop), m.seed), model, m,
               [&] { return task.next(); });
  Random fresh(static_cast<std::uint64_t>(m.seed) + 1000);
  PeriodicCopy unseen(P, s.symbols, 64, T, segments, fresh);
  const auto next = [&] { return unseen.next(); };
  return loss_by_place(loss_by_position(model, next, segments, s.memory_length), T, first);
}

void add_run(const Settings& s, Index P, const std::vector<double>& losses, Measured& measured) {
  std::map<Index, Mean> run;
  for (Index i = 0; i < s.model.segment_length; ++i) {
    const double loss = losses[static_cast<std::size_t>(i)];
    measured.by_distance[P - 1 - i].add(loss);
    run[looks_needed(s, P, i)].add(loss);
  }
  for (const auto& [count, mean] : run) {
    Looks& looks = measured.by_looks[count];
    looks.loss.add(mean.value());
    looks.known += mean.value() < std::log(static_cast<double>(s.symbols)) / 2 ? 1 : 0;
    ++looks.runs;
  }
}

Measured measure_copy(const Settings& s, Index N, bool stop) {
  Measured measured = {N, stop, {}, {}};
  for (const Index P : s.periods) {
    for (Index run = 0; run < runs_of(s, N, P); ++run) {
      const std::vector<double> losses = learn_copy(s, N, P, stop, run);
      if (interrupted()) return measured;  // what is half trained is not counted
      add_run(s, P, losses, measured);
    }
  }
  return measured;
}

// Tokens behind the last prediction of a segment if a model knows what is within so many looks: n M + T.
Index reach_of(const Settings& s, Index looks) {
  if (looks == 0) return 0;
  const Index T = s.model.segment_length;
  const Config config = make_config(with_layers(s, looks, 0), s.symbols, s.memory_length);
  return tokens_in_reach(config, T, s.memory_length, T - 1).back();
}

// The lowest loss that N layers allow when the wanted token stands so far behind the start of the segment.
double best_loss(const Settings& s, Index N, Index distance) {
  const Index T = s.model.segment_length, behind = reach_of(s, N) - T;  // as if the memory were so long
  return periodic_copy_best_loss(behind, T - 1, distance + T, s.symbols);
}

// The most looks in a row that most runs have learned.
Index looks_learned(const Measured& m) {
  Index learned = 0;
  for (const auto& [count, looks] : m.by_looks) {
    if (2 * looks.known <= looks.runs) break;
    learned = count;
  }
  return learned;
}

void draw_copy(const Settings& s, const std::vector<Measured>& all, bool stop, const std::string& file) {
  Chart chart;
  chart.title = stop ? "What N layers know, behind a stop-gradient" : "What N layers know, without the stop-gradient";
  chart.description =
      "Loss against how far behind the segment the symbol to be copied stands, by the number of layers.";
  chart.x = {"distance of the symbol behind the start of the segment", "tokens"};
  chart.y = {"loss", "nats"};
  const double nothing = std::log(static_cast<double>(s.symbols));
  chart.references = {{fmt::format("ln {} = {:.2f}", s.symbols, nothing), nothing}};
  for (const Measured& m : all) {
    if (m.stop != stop) continue;
    Series theory = {fmt::format("N = {}", m.N), {}, {}, Kind::theory, true}, fact = {theory.name, {}, {}};
    for (const auto& [distance, mean] : m.by_distance) {
      theory.x.push_back(static_cast<double>(distance));
      theory.y.push_back(best_loss(s, m.N, distance));
      fact.x.push_back(static_cast<double>(distance));
      fact.y.push_back(mean.value());
    }
    chart.series.push_back(theory);
    chart.series.push_back(fact);
  }
  if (chart.series.empty()) return;
  print(chart);
  fmt::print("\n");
  write_svg(s.out + "/" + file, chart);
}

void print_copy(const Settings& s, const std::vector<Measured>& all) {
  fmt::print(
      "Nats for what takes so many looks and no fewer (theory: 0 within N looks, ln {} = {:.3f} beyond), and how\n"
      "many runs have learned it. Reach in tokens: N M + T in theory, in fact that of what most runs learned.\n\n"
      "  {:<24}",
      s.symbols, std::log(static_cast<double>(s.symbols)), "");
  for (const auto& entry : all[0].by_looks) {
    fmt::print("{:>16}", fmt::format("{} look{}", entry.first, entry.first == 1 ? "" : "s"));
  }
  fmt::print("    reach: theory   fact\n");
  for (const Measured& m : all) {
    fmt::print("  {:<17} N = {:<2}", name_of(m.stop), m.N);
    for (const auto& [count, looks] : m.by_looks) {
      fmt::print("{:>8.3f} {:>7}", looks.loss.value(), fmt::format("{} of {}", looks.known, looks.runs));
    }
    fmt::print("{:>17}{:>7}\n", reach_of(s, m.N), reach_of(s, looks_learned(m)));
  }
  for (const bool stop : {true, false}) {
    Index known = 0, runs = 0;
    for (const Measured& m : all) {
      for (const auto& [count, looks] : m.by_looks) {
        if (m.stop == stop && count > 1 && count <= m.N) known += looks.known, runs += looks.runs;
      }
    }
    if (runs == 0) continue;
    fmt::print("{}  {}: more than one look learned in {} of {} runs.\n", stop ? "\n" : "", name_of(stop), known, runs);
  }
}

// False when interrupted before there was anything to show.
bool show_copy(const Settings& s) {
  std::vector<Measured> all;
  for (const bool stop : {true, false}) {
    for (Index N = 1; N <= s.model.layers && !interrupted(); ++N) {
      const Measured measured = measure_copy(s, N, stop);
      if (!interrupted()) all.push_back(measured);
    }
  }
  if (all.empty()) return false;
  draw_copy(s, all, true, "effective_context.svg");
  draw_copy(s, all, false, "effective_context_no_stop.svg");
  print_copy(s, all);
  Table table({"model", "layers", "distance", "loss_nats", "theory_nats"});
  for (const Measured& m : all) {
    for (const auto& [distance, mean] : m.by_distance) {
      table.add_row({name_of(m.stop), m.N, distance, mean.value(), best_loss(s, m.N, distance)});
    }
  }
  write_csv(s.out + "/effective_context.csv", table);
  return true;
}

constexpr std::array<double, 3> shares = {0.1, 0.5, 1.0};  // r, those of the paper's table 8

struct TextModel {
  std::string name;
  Encoding encoding;
  Index M;
  double bits;  // per byte, read in segments as in training
};

ModelSettings text_settings(const Settings& s) {
  ModelSettings t = s.model;
  t.segment_length = s.text_segment_length;
  t.layers = s.text_layers;
  t.steps = s.text_steps;
  return t;
}

// The group of the paper's ablation: its model, another encoding, no memory, and neither.
std::vector<TextModel> group_of(const Settings& s) {
  const Index M = s.text_memory_length;
  const Encoding shaw = {.scheme = Scheme::shaw, .rows = s.text_segment_length + M};
  return {{"Transformer-XL", {}, M, 0},
          {"Shaw's encoding", shaw, M, 0},
          {"no memory", {}, 0, 0},
          {"vanilla", {.scheme = Scheme::sinusoids_restarting}, 0, 0}};
}

Index text_reach(const Settings& s, Index M) {
  const Index T = s.text_segment_length;
  return tokens_in_reach(make_config(text_settings(s), 256, M), T, M, T - 1).back();
}

// The contexts to measure with: multiples of the step, the last but one at least what is in reach.
std::vector<Index> contexts_of(const Settings& s) {
  std::vector<Index> contexts = {s.context_step};
  while (contexts.back() < text_reach(s, s.text_memory_length) + s.context_step) {
    contexts.push_back(contexts.back() + s.context_step);
  }
  return contexts;
}

// Targets spread over the held-out text, each with the longest context before it.
std::vector<Index> targets_of(const Settings& s, const Text& text) {
  const Index longest = contexts_of(s).back(), room = static_cast<Index>(text.held_out.size()) - longest;
  if (room < s.targets) {
    throw ArgumentError(fmt::format("targets: {} of them and a context of {} do not fit into {} held-out bytes",
                                    s.targets, longest, text.held_out.size()));
  }
  std::vector<Index> targets;
  for (Index k = 0; k < s.targets; ++k) targets.push_back(longest + k * room / s.targets);
  return targets;
}

// Trains one model of the group; its losses become the next of the table.
void learn_text(const Settings& s, const Text& text, TextModel& member, ContextTable& table) {
  const ModelSettings t = text_settings(s);
  Random random(static_cast<std::uint64_t>(t.seed));
  const auto model = make_model(make_config(t, 256, member.M), member.encoding, random);
  Streams streams(text.training, t.batch, t.segment_length, Tail::drop);
  run_training(member.name, *model, t, [&] { return streams.next(); });
  const auto go_on = [](Index, Index) { return !interrupted(); };
  member.bits = evaluate(*model, text.held_out, t.segment_length, member.M, t.batch, go_on).bits();
  const std::vector<Index> targets = targets_of(s, text);
  Progress progress(member.name + ": contexts", static_cast<Index>(table.contexts.size()));
  auto& losses = table.losses.emplace_back();
  for (const Index c : table.contexts) {
    const auto go_on_here = [](Index) { return !interrupted(); };
    losses.push_back(context_losses(*model, text.held_out, targets, c, member.M, 64, go_on_here));
    progress.update(static_cast<Index>(losses.size()));
  }
}

double mean_of(const std::vector<double>& values) {
  Mean mean;
  for (const double value : values) mean.add(value);
  return mean.value();
}

void draw_text(const Settings& s, const std::vector<TextModel>& group, const ContextTable& table) {
  Chart chart;
  chart.title = "What a longer context still gives";
  chart.description = "Relative gain of each step to a longer context, on the hardest tenth of the targets, by model.";
  chart.x = {fmt::format("context, against one that is {} shorter", s.context_step), "bytes"};
  chart.y = {"relative gain, r = 0.1", "%"};
  const Index look = s.text_segment_length + s.text_memory_length, reach = text_reach(s, s.text_memory_length);
  chart.references = {{"threshold", 1}, {fmt::format("one look: {}", look), static_cast<double>(look), true}};
  if (reach > look) chart.references.push_back({fmt::format("in reach: {}", reach), static_cast<double>(reach), true});
  Table csv({"model", "context", "loss_nats", "baseline_nats", "gain_r0.1", "gain_r0.5", "gain_r1"});
  for (std::size_t i = 0; i < group.size(); ++i) {
    Series series = {group[i].name, {}, {}};
    for (std::size_t k = 0; k < table.contexts.size(); ++k) {
      std::vector<Cell> row = {group[i].name, table.contexts[k], mean_of(table.losses[i][k]),
                               mean_of(table.baseline(k))};
      for (const double r : shares) row.push_back(k == 0 ? Cell("") : Cell(relative_gain(table, i, k - 1, k, r)));
      csv.add_row(row);
      if (k == 0) continue;
      series.x.push_back(static_cast<double>(table.contexts[k]));
      series.y.push_back(100 * relative_gain(table, i, k - 1, k, shares[0]));
    }
    chart.series.push_back(series);
  }
  fmt::print("\n");
  print(chart);
  write_csv(s.out + "/effective_context_text.csv", csv);
  write_svg(s.out + "/effective_context_text.svg", chart);
}

void show_text(const Settings& s, const Text& text) {
  fmt::print("\nFour models learn a text of {} bytes with T = {}, M = {} and N = {} in {} steps.\n",
             text.training.size(), s.text_segment_length, s.text_memory_length, s.text_layers, s.text_steps);
  std::vector<TextModel> group = group_of(s);
  ContextTable table = {contexts_of(s), {}};
  for (TextModel& member : group) {
    if (!interrupted()) learn_text(s, text, member, table);
  }
  if (interrupted()) return;  // the length is relative to the whole group
  draw_text(s, group, table);
  fmt::print(
      "\nThe relative effective context length (RECL) on the hardest r of {} targets, in bytes, in steps of {}:\n\n"
      "  {:<16}{:>14}{:>9}{:>9}{:>9}{:>18}\n",
      s.targets, s.context_step, "", "bits per byte", "r = 0.1", "0.5", "1.0", "reach in theory");
  for (std::size_t i = 0; i < group.size(); ++i) {
    fmt::print("  {:<16}{:>14.3f}", group[i].name, group[i].bits);
    for (const double r : shares) fmt::print("{:>9}", effective_context(table, i, r));
    fmt::print("{:>18}\n", text_reach(s, group[i].M));
  }
}

void tell(const Settings& s) {
  prepare(s.model, s.symbols, s.memory_length, s.out);
  const Text text = s.text_steps > 0 ? read_text(s.text) : Text{};
  if (s.text_steps > 0) {
    check_length(text, text_settings(s));
    targets_of(s, text);
  }
  fmt::print(
      "Segments of T = {}, a memory of M = {}. Each text repeats a random block of P symbols. Models with up to\n"
      "N = {} layers learn it in {} step{}, with the stop-gradient and without it; where theory leaves the outcome\n"
      "open, since more than one look is needed and the layers suffice, with {} seed{}.\n\n",
      s.model.segment_length, s.memory_length, s.model.layers, s.model.steps, s.model.steps == 1 ? "" : "s", s.seeds,
      s.seeds == 1 ? "" : "s");
  if (!show_copy(s)) return;
  if (s.text_steps > 0 && !interrupted()) show_text(s, text);
  fmt::print("\nPictures and numbers are in {0}/effective_context*.svg and {0}/effective_context*.csv.\n", s.out);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("effective_context",
                      "Measures how far back models see in theory and in fact: on a text made of looks, by depth, with "
                      "the stop-gradient and without, and as relative effective context length on a real text.");
  arguments.add("memory_length", s.memory_length, "memory M of the models of the copy, in tokens", 1, 4096);
  arguments.add("periods", s.periods, "periods P of the copy, in tokens", 2, 4096);
  arguments.add("symbols", s.symbols, "size of the copy's alphabet V", 2, 65536);
  arguments.add("seeds", s.seeds, "runs where more than one look is needed and the layers suffice", 1, 1000);
  arguments.add("text", s.text, "file to learn from; empty for the project's own book and README");
  arguments.add("text_segment_length", s.text_segment_length, "segment length T on the text, in bytes", 1, 4096);
  arguments.add("text_memory_length", s.text_memory_length, "memory M of those that have one there, in bytes", 1, 4096);
  arguments.add("text_layers", s.text_layers, "layers N there", 1, 64);
  arguments.add("text_steps", s.text_steps, "training steps there; 0 leaves the text out", 0, most_steps);
  arguments.add("context_step", s.context_step, "by how many bytes contexts grow", 1, 4096);
  arguments.add("targets", s.targets, "bytes of the held-out text to predict with each context", 1, 1000000);
  add_arguments(arguments, s.model);
  arguments.add("out", s.out, "folder for the pictures and the numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
