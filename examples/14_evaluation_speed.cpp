// A long context for every token: what does it cost with a window that slides, and what with a memory?
//
// One model with the same weights predicts the same tokens in both ways. A vanilla Transformer has no memory, so each
// token costs a pass over the whole window before it. With memory the same context has been read already. The lesson
// takes the time of both, counts the multiplications that explain it, and compares the losses, lest one of them win by
// doing less. Last it measures what is saved by keeping the keys and values of the memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <vector>

#include "examples/support/chart.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/progress.hpp"
#include "examples/support/training.hpp"
#include "xl/model.hpp"
#include "xl/tools/evaluation.hpp"
#include "xl/tools/prediction_costs.hpp"

using namespace segue;

namespace {

struct Settings {
  ModelSettings model = {.segment_length = 32,  // in training
                         .layers = 2,
                         .heads = 3,
                         .width = 192,
                         .steps = 500,
                         .batch = 4,
                         .threads = 1,
                         .learning_rate = 0.001};
  std::vector<Index> attention_lengths = {800, 1800, 2800, 3800}, segment_lengths = {16, 32, 64, 128, 256, 512};
  Index segment_length = 512, segments = 16, tokens = 8;
  std::string out = "out";
};

constexpr Index V = 256;               // bytes
constexpr Index training_memory = 96;  // M

// How many times as slow the vanilla model is, by attention length: table 9 of the paper.
const std::map<Index, double> paper_ratios = {{800, 363}, {1800, 773}, {2800, 1409}, {3800, 1874}};

// What predicting tokens in one way has taken.
struct Measured {
  std::string method;
  Index W, T;                                          // attention length; queries of a pass
  double multiplications;                              // a token
  std::vector<double> seconds;                         // a token, in each pass, in order of size
  double shortest() const { return seconds.front(); }  // of equal work the shortest time is the least disturbed
  double median() const { return (seconds[(seconds.size() - 1) / 2] + seconds[seconds.size() / 2]) / 2; }
};

struct Comparison {
  Measured window, memory;
  double absolute_multiplications;          // of a window without distances
  double window_nats = 0, memory_nats = 0;  // mean losses of the same few tokens
};

struct Reading {
  Measured kept, anew;  // with what is known of the memory, and with all of it projected for every segment
};

double ratio(const Measured& window, const Measured& memory) { return window.shortest() / memory.shortest(); }
double counted(const Measured& window, const Measured& memory) {
  return window.multiplications / memory.multiplications;
}

// ---- Measuring ----------------------------------------------------------------------------------------------------

// Notes how long each pass of an evaluation takes, and tells it to go on until Ctrl-C. This is time of the processor,
// in all threads: on a busy machine a long pass would wait for others and a short one would not.
struct Laps {
  std::clock_t last = std::clock();
  std::vector<double> seconds;
  bool next() {
    const std::clock_t now = std::clock();
    seconds.push_back(static_cast<double>(now - last) / CLOCKS_PER_SEC);
    last = now;
    return !interrupted();
  }
  // Those behind the first `given`, each divided by its tokens, in order of size.
  std::vector<double> behind(Index given, Index tokens) const {
    std::vector<double> kept;
    for (std::size_t k = static_cast<std::size_t>(given); k < seconds.size(); ++k) {
      kept.push_back(seconds[k] / static_cast<double>(tokens));
    }
    std::sort(kept.begin(), kept.end());
    return kept;
  }
};

std::vector<Index> part_of(const std::vector<Index>& text, Index begin, Index end) {
  return {text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end)};
}

// The mean loss of what `whole` predicts behind the end of `beginning`.
double nats_behind(const Evaluation& beginning, const Evaluation& whole) {
  const auto sum = [](const Evaluation& e) { return e.nats * static_cast<double>(e.count); };
  return (sum(whole) - sum(beginning)) / static_cast<double>(whole.count - beginning.count);
}

// W rounded up to whole segments: what must be read before a memory of W is full.
Index to_fill(Index W, Index T) { return (W + T - 1) / T * T; }

// A model and a text. Measured is what comes behind token `start`; all before that is context.
struct Bench {
  const Settings& s;
  const TransformerXL& model;
  const std::vector<Index>& text;
  Index start;
  Progress progress;
  Index work_done = 0;

  // Tokens from the W before each, in a pass of their own.
  Measured slide(Index W, Evaluation& whole) {
    Laps laps;
    whole = evaluate_sliding(model, part_of(text, start - W, start + s.tokens + 1), W, 1, [&](Index, Index) {
      progress.update(work_done += W * W, fmt::format("windows of {}", W));
      return laps.next();
    });
    // Not counted is the first pass, which predicts all W tokens behind the first.
    return {"window", W, W, window_multiplications(model.config, W), laps.behind(1, 1)};
  }

  // Segments of T that fill a memory of W, and those to be timed.
  std::vector<Index> segments(Index W, Index T) const {
    return part_of(text, start - to_fill(W, T), start + s.segments * T + 1);
  }

  Measured remember(Index W, Index T) const {
    Laps laps;
    evaluate(model, segments(W, T), T, W, 1, [&](Index, Index) { return laps.next(); });
    return {"memory", W, T, memory_multiplications(model.config, T, W), laps.behind(to_fill(W, T) / T, T)};
  }

  // The same by the model as it is, which projects all states in the memory for every segment.
  Measured remember_anew(Index W, Index T) const {
    const NoGradientGuard no_gradient;
    Streams streams(segments(W, T), 1, T, Tail::keep);
    Memory memory = empty_memory(model.config, 1, W);
    Laps laps;
    for (bool go_on = true; go_on && static_cast<Index>(laps.seconds.size()) < streams.segments();) {
      memory = model(streams.next().inputs, memory, Mode::evaluate()).memory;
      go_on = laps.next();
    }
    return {"anew", W, T, uncached_memory_multiplications(model.config, T, W), laps.behind(to_fill(W, T) / T, T)};
  }

  // The mean loss of the first tokens behind `start`, with a memory of M.
  double memory_nats(Index M) const {
    const Index T = s.segment_length, begin = start - to_fill(std::max(M, T), T);
    return nats_behind(evaluate(model, part_of(text, begin, start + 1), T, M),
                       evaluate(model, part_of(text, begin, start + s.tokens + 1), T, M));
  }
};

Comparison compare(Bench& bench, Index W) {
  const Settings& s = bench.s;
  Evaluation whole;
  Comparison c = {bench.slide(W, whole), bench.remember(W, s.segment_length),
                  absolute_window_multiplications(bench.model.config, W)};
  if (interrupted()) return c;
  const Evaluation beginning = evaluate(bench.model, part_of(bench.text, bench.start - W, bench.start + 1), W, 0);
  c.window_nats = nats_behind(beginning, whole);
  c.memory_nats = bench.memory_nats(W);
  return c;
}

// ---- Telling ------------------------------------------------------------------------------------------------------

std::string paper_ratio(Index W) {
  const auto found = paper_ratios.find(W);
  return found == paper_ratios.end() ? "" : fmt::format("{:.0f}", found->second);
}

// "12.3 (12.9)", the shortest and the median, in units of which a second has `units`.
std::string with_median(const Measured& m, double units) {
  return fmt::format("{:.1f} ({:.1f})", units * m.shortest(), units * m.median());
}

void print_times(const Settings& s, const std::vector<Comparison>& all) {
  fmt::print(
      "Processor time of a token: the shortest (and the median) of {} windows, and of {} segments of T = {}\n"
      "with a full memory, on {} thread{}. Slower: how many times as long the window takes, by the shortest\n"
      "times (and by the medians).\n\n  attention        window, ms    memory, microseconds           slower   paper\n",
      s.tokens, s.segments, s.segment_length, s.model.threads, s.model.threads == 1 ? "" : "s");
  for (const Comparison& c : all) {
    const double medians = c.window.median() / c.memory.median();
    const std::string slower = fmt::format("{:.0f} ({:.0f})", ratio(c.window, c.memory), medians);
    fmt::print("  {:>9}{:>18}{:>24}{:>17}{:>8}\n", c.memory.W, with_median(c.window, 1e3), with_median(c.memory, 1e6),
               slower, paper_ratio(c.memory.W));
  }
}

void print_counts(const std::vector<Comparison>& all) {
  fmt::print(
      "\nMillions of multiplications a token, and how much slower the window would be if all took equally long.\n"
      "Absolute: a vanilla model that adds positions to its states, as the paper's, has no scores of distances.\n\n"
      "  attention    window   memory   counted   slower    absolute   counted   paper\n");
  for (const Comparison& c : all) {
    fmt::print("  {:>9}{:>10.1f}{:>9.3f}{:>10.0f}{:>9.0f}{:>12.1f}{:>10.0f}{:>8}\n", c.memory.W,
               c.window.multiplications / 1e6, c.memory.multiplications / 1e6, counted(c.window, c.memory),
               ratio(c.window, c.memory), c.absolute_multiplications / 1e6,
               c.absolute_multiplications / c.memory.multiplications, paper_ratio(c.memory.W));
  }
}

void print_losses(const Settings& s, const std::vector<Comparison>& all, double without) {
  fmt::print(
      "\nMean loss of the same {} tokens at every attention length, in nats. By segments without memory: {:.4f}\n\n"
      "  attention    window    memory    difference\n",
      s.tokens, without);
  for (const Comparison& c : all) {
    fmt::print("  {:>9}{:>10.4f}{:>10.4f}{:>+14.4f}\n", c.memory.W, c.window_nats, c.memory_nats,
               c.memory_nats - c.window_nats);
  }
}

// What T does to the ratio, and what is saved.
void print_segments(const Measured& window, const std::vector<Reading>& sweep) {
  fmt::print(
      "\nOther segments with a memory of {}. Anew: by a model that keeps no keys and values, and projects its whole\n"
      "memory for every segment.\n\n"
      "  segment T    memory, microseconds    slower   counted             anew    slower   counted\n",
      window.W);
  for (const auto& [kept, anew] : sweep) {
    fmt::print("  {:>9}{:>24}{:>10.0f}{:>10.0f}{:>17}{:>10.0f}{:>10.0f}\n", kept.T, with_median(kept, 1e6),
               ratio(window, kept), counted(window, kept), with_median(anew, 1e6), ratio(window, anew),
               counted(window, anew));
  }
}

Chart chart_of_seconds(const std::vector<Comparison>& all) {
  Chart chart;
  chart.title = "What a token costs";
  chart.description = "Seconds per token against attention length, for a sliding window and for memory.";
  chart.x = {"attention length", "tokens", true};
  chart.y = {"time of a token", "seconds", true};
  chart.series = {{"sliding window", {}, {}}, {"memory", {}, {}}};
  for (const Comparison& c : all) {
    for (Series& series : chart.series) series.x.push_back(static_cast<double>(c.memory.W));
    chart.series[0].y.push_back(c.window.shortest());
    chart.series[1].y.push_back(c.memory.shortest());
  }
  return chart;
}

Chart chart_of_ratios(const std::vector<Comparison>& all) {
  Chart chart;
  chart.title = "How many times as slow a sliding window is";
  chart.description = "Time of a window over time of memory against attention length, beside counts and the paper's.";
  chart.x = {"attention length", "tokens"};
  chart.y = {"times as slow as memory"};
  chart.series = {{"window", {}, {}, Kind::theory}, {"window", {}, {}}, {"the paper's", {}, {}}};
  for (const Comparison& c : all) {
    for (Series& series : chart.series) series.x.push_back(static_cast<double>(c.memory.W));
    const auto paper = paper_ratios.find(c.memory.W);
    chart.series[0].y.push_back(counted(c.window, c.memory));
    chart.series[1].y.push_back(ratio(c.window, c.memory));
    chart.series[2].y.push_back(paper == paper_ratios.end() ? std::nan("") : paper->second);
  }
  return chart;
}

void write_tables(const Settings& s, const std::vector<Comparison>& all, const std::vector<Reading>& sweep) {
  Table times({"attention_length", "vanilla_seconds_per_token", "memory_seconds_per_token", "ratio", "paper_ratio"});
  Table details({"attention_length", "method", "segment_length", "passes", "seconds_per_token", "median", "longest",
                 "multiplications_per_token", "nats"});
  const auto add = [&](const Measured& m, const Cell& nats) {
    details.add_row({m.W, m.method, m.T, static_cast<Index>(m.seconds.size()), m.shortest(), m.median(),
                     m.seconds.back(), m.multiplications, nats});
  };
  for (const Comparison& c : all) {
    times.add_row(
        {c.memory.W, c.window.shortest(), c.memory.shortest(), ratio(c.window, c.memory), paper_ratio(c.memory.W)});
    add(c.window, c.window_nats);
    add(c.memory, c.memory_nats);
  }
  for (const auto& [kept, anew] : sweep) {
    if (kept.T != s.segment_length) add(kept, "");
    add(anew, "");
  }
  write_csv(s.out + "/evaluation_speed.csv", times);
  write_csv(s.out + "/evaluation_speed_details.csv", details);
}

// ---- The story ----------------------------------------------------------------------------------------------------

TransformerXL train_model(const Settings& s, const Text& text) {
  const Index T = s.model.segment_length;
  Config config = make_config(s.model, V, training_memory);
  config.clamp_length = T + training_memory;  // all distances that training never meets count as this one
  Random random(static_cast<std::uint64_t>(s.model.seed));
  TransformerXL model(config, random);
  Streams streams(text.training, s.model.batch, T, Tail::drop);
  const TrainingRun run = run_training("training", model, s.model, [&] { return streams.next(); });
  fmt::print(
      "A model of {} weights, N = {}, D = {}, H = {}, trained on this book for {} steps with T = {}, M = {}.\n\n",
      parameter_count(run.optimizer.parameters), s.model.layers, s.model.width, s.model.heads, run.state.step, T,
      training_memory);
  return model;
}

// The token behind which is measured: what comes before it fills every memory that is asked for with whole segments.
Index find_start(const Settings& s, const Text& text) {
  const Index longest = std::max(s.segment_length, s.segment_lengths.empty() ? 0 : s.segment_lengths.back());
  const Index start = s.attention_lengths.back() + longest, behind = std::max(s.tokens, s.segments * longest);
  const Index held_out = static_cast<Index>(text.held_out.size());
  if (start + behind < held_out) return start;
  throw ArgumentError(
      fmt::format("attention_lengths: expected {} and segments={} of up to {} behind it to fit into the {} bytes held "
                  "out of the book",
                  s.attention_lengths.back(), s.segments, longest, held_out));
}

struct Results {
  std::vector<Comparison> comparisons;
  std::vector<Reading> sweep;  // of segment lengths, with the longest attention
  double nats_without_memory;
};

Results measure(const Settings& s, const TransformerXL& model, const Text& text, Index start) {
  Index work = 0;
  for (const Index W : s.attention_lengths) work += W * W * (s.tokens + 1);
  Bench bench = {s, model, text.held_out, start, Progress("measuring", work)};
  Results results = {{}, {}, bench.memory_nats(0)};
  for (const Index W : s.attention_lengths) {
    const Comparison comparison = compare(bench, W);
    if (interrupted()) return results;
    results.comparisons.push_back(comparison);
  }
  for (const Index T : s.segment_lengths) {
    const Measured& known = results.comparisons.back().memory;
    const Reading reading = {T == known.T ? known : bench.remember(known.W, T), bench.remember_anew(known.W, T)};
    if (interrupted()) break;
    results.sweep.push_back(reading);
  }
  return results;
}

void report(const Settings& s, const Results& results) {
  const std::vector<Comparison>& all = results.comparisons;
  print_times(s, all);
  print_counts(all);
  print_losses(s, all, results.nats_without_memory);
  if (!results.sweep.empty()) print_segments(all.back().window, results.sweep);
  const Chart seconds = chart_of_seconds(all), ratios = chart_of_ratios(all);
  for (const Chart& chart : {seconds, ratios}) {
    fmt::print("\n");
    print(chart);
  }
  write_svg(s.out + "/evaluation_speed.svg", seconds);
  write_svg(s.out + "/evaluation_speed_ratio.svg", ratios);
  write_tables(s, all, results.sweep);
  fmt::print(
      "\nThe pictures are in {0}/evaluation_speed.svg and {0}/evaluation_speed_ratio.svg, the numbers are in\n"
      "{0}/evaluation_speed.csv and {0}/evaluation_speed_details.csv.\n",
      s.out);
}

void tell(Settings s) {
  std::sort(s.attention_lengths.begin(), s.attention_lengths.end());
  std::sort(s.segment_lengths.begin(), s.segment_lengths.end());
  prepare(s.model, V, training_memory, s.out);
  const Text text = read_text("");
  check_length(text, s.model);
  const Index start = find_start(s, text);
  const TransformerXL model = train_model(s, text);
  const Results results = measure(s, model, text, start);
  if (!results.comparisons.empty()) report(s, results);  // unless interrupted before
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("evaluation_speed",
                      "Measures what a long context costs per token: with a sliding window, and with memory.");
  arguments.add("attention_lengths", s.attention_lengths, "how far back each token can look, in tokens", 1, 65536);
  arguments.add("tokens", s.tokens, "tokens that windows predict at each attention length", 1, 4096);
  arguments.add("segment_length", s.segment_length, "segment length T to read with a memory, in tokens", 1, 65536);
  arguments.add("segment_lengths", s.segment_lengths, "others, to be read with the longest memory", 1, 65536);
  arguments.add("segments", s.segments, "segments that are timed", 1, 4096);
  arguments.add("layers", s.model.layers, "layers N", 1, 64);
  arguments.add("heads", s.model.heads, "heads H", 1, 64);
  arguments.add("width", s.model.width, "width D of the model, a multiple of 2 heads", 2, 4096);
  arguments.add("steps", s.model.steps, "training steps", 1, most_steps);
  arguments.add("seed", s.model.seed, "seed of the weights", 0);
  arguments.add("threads", s.model.threads, "threads", 1, 256);
  arguments.add("out", s.out, "folder for the pictures and numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
