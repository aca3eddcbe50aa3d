// A long context for every token: what does it cost with a window that slides, and what with a memory?
//
// One model with the same weights predicts the same tokens in both ways. A vanilla Transformer has no memory, so each
// token costs a pass over the whole window before it. With memory the same context has been read already. The lesson
// takes the time of both, counts the multiplications that explain it, and compares the losses, lest one of them win by
// doing less.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
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
#include "xl/tools/evaluation.hpp"
#include "xl/tools/prediction_costs.hpp"

using namespace segue;

namespace {

struct Settings {
  ModelSettings model = {.segment_length = 32,  // in training
                         .layers = 3,
                         .heads = 2,
                         .width = 64,
                         .steps = 900,
                         .batch = 8,
                         .threads = 1,
                         .learning_rate = 0.004};
  std::vector<Index> attention_lengths = {800, 1800, 2800, 3800}, segment_lengths = {16, 32, 64, 128, 256, 512};
  Index segment_length = 128, segments = 9, tokens = 6;
  std::string out = "out";
};

constexpr Index V = 256;               // bytes
constexpr Index training_memory = 96;  // M

// How many times as slow the vanilla model is, by attention length: table 9 of the paper.
const std::map<Index, double> paper_ratios = {{800, 363}, {1800, 773}, {2800, 1409}, {3800, 1874}};

// What predicting tokens in one way has taken.
struct Measured {
  std::string method;
  Index W, T;                   // attention length; queries of a pass
  double multiplications;       // a token
  std::vector<double> seconds;  // a token, in each pass, in order of size
  double median() const { return (seconds[(seconds.size() - 1) / 2] + seconds[seconds.size() / 2]) / 2; }
};

// The ways to predict with one attention length, and the mean losses of the same few tokens.
struct Comparison {
  Measured window, absolute, memory;
  double window_nats = 0, memory_nats = 0;
};

double ratio(const Measured& window, const Measured& memory) { return window.median() / memory.median(); }
double counted(const Measured& window, const Measured& memory) {
  return window.multiplications / memory.multiplications;
}

// ---- Measuring ----------------------------------------------------------------------------------------------------

// Notes how long each pass of an evaluation takes, and tells it to go on until Ctrl-C.
struct Laps {
  using Clock = std::chrono::steady_clock;
  Clock::time_point last = Clock::now();
  std::vector<double> seconds;
  bool next() {
    const Clock::time_point now = Clock::now();
    seconds.push_back(std::chrono::duration<double>(now - last).count());
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

  // `count` tokens, each from the W before it in a pass of its own.
  Measured slide(const LanguageModel& subject, Index W, Index count, Evaluation& whole) {
    Laps laps;
    whole = evaluate_sliding(subject, part_of(text, start - W, start + count + 1), W, 1, [&](Index, Index) {
      progress.update(work_done += W * W, fmt::format("windows of {}", W));
      return laps.next();
    });
    // Not counted is the first pass, which predicts all W tokens behind the first.
    return {"window", W, W, window_multiplications(subject.config, W), laps.behind(1, 1)};
  }

  // Segments of T with a full memory of W.
  Measured remember(Index W, Index T) const {
    Laps laps;
    const Index filling = to_fill(W, T);
    evaluate(model, part_of(text, start - filling, start + s.segments * T + 1), T, W, 1,
             [&](Index, Index) { return laps.next(); });
    return {"memory", W, T, memory_multiplications(model.config, T, W), laps.behind(filling / T, T)};
  }

  // The mean loss of the first tokens behind `start`, with a memory of M.
  double memory_nats(Index M) const {
    const Index T = s.segment_length, begin = start - to_fill(std::max(M, T), T);
    return nats_behind(evaluate(model, part_of(text, begin, start + 1), T, M),
                       evaluate(model, part_of(text, begin, start + s.tokens + 1), T, M));
  }
};

constexpr Index tokens_of_absolute = 3;  // nothing but their time is asked for

Comparison compare(Bench& bench, const LanguageModel& absolute, Index W) {
  const Settings& s = bench.s;
  Evaluation whole;
  Comparison c;
  c.absolute = bench.slide(absolute, W, tokens_of_absolute, whole);
  c.absolute.method = "window, absolute positions";
  c.absolute.multiplications = absolute_window_multiplications(absolute.config, W);
  c.window = bench.slide(bench.model, W, s.tokens, whole);
  c.memory = bench.remember(W, s.segment_length);
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

// "12.34 (12.01 to 13.20)", in units of which a second has `units`.
std::string with_spread(const Measured& m, double units) {
  return fmt::format("{:.1f} ({:.1f} to {:.1f})", units * m.median(), units * m.seconds.front(),
                     units * m.seconds.back());
}

void print_times(const Settings& s, const std::vector<Comparison>& all) {
  fmt::print(
      "Time of a token: the median of {} windows, and of {} segments of T = {} with a full memory (shortest to\n"
      "longest), on {} thread{}. Slower: how many times as long the window takes.\n\n"
      "  attention                   window, ms       memory, microseconds    slower   paper\n",
      s.tokens, s.segments, s.segment_length, s.model.threads, s.model.threads == 1 ? "" : "s");
  for (const Comparison& c : all) {
    fmt::print("  {:>9}{:>29}{:>27}{:>10.0f}{:>8}\n", c.memory.W, with_spread(c.window, 1e3),
               with_spread(c.memory, 1e6), ratio(c.window, c.memory), paper_ratio(c.memory.W));
  }
}

void print_counts(const std::vector<Comparison>& all) {
  fmt::print(
      "\nMillions of multiplications a token, and how much slower the window would be if all took equally long.\n"
      "Absolute: a vanilla model that adds positions to its states, as the paper's, has no scores of distances.\n\n"
      "  attention    window   memory   counted   slower    absolute   counted   slower   paper\n");
  for (const Comparison& c : all) {
    fmt::print("  {:>9}{:>10.1f}{:>9.3f}{:>10.0f}{:>9.0f}{:>12.1f}{:>10.0f}{:>9.0f}{:>8}\n", c.memory.W,
               c.window.multiplications / 1e6, c.memory.multiplications / 1e6, counted(c.window, c.memory),
               ratio(c.window, c.memory), c.absolute.multiplications / 1e6, counted(c.absolute, c.memory),
               ratio(c.absolute, c.memory), paper_ratio(c.memory.W));
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

// What T does to the ratio.
void print_segments(const Config& config, const Measured& window, const std::vector<Measured>& sweep) {
  fmt::print(
      "\nOther segments with a memory of {}. Once: counted, if keys and values of what is in memory were made only\n"
      "when it gets there, instead of for every segment.\n\n"
      "  segment T       memory, microseconds    slower   counted    once\n",
      window.W);
  for (const Measured& m : sweep) {
    fmt::print("  {:>9}{:>27}{:>10.0f}{:>10.0f}{:>8.0f}\n", m.T, with_spread(m, 1e6), ratio(window, m),
               counted(window, m), window.multiplications / kept_keys_multiplications(config, m.T, m.W));
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
    chart.series[0].y.push_back(c.window.median());
    chart.series[1].y.push_back(c.memory.median());
  }
  return chart;
}

Chart chart_of_ratios(const std::vector<Comparison>& all) {
  Chart chart;
  chart.title = "How many times as slow a sliding window is";
  chart.description = "Time of a window over time of memory against attention length, beside counts and the paper's.";
  chart.x = {"attention length", "tokens"};
  chart.y = {"times as slow as memory"};
  chart.series = {{"window", {}, {}, Kind::theory},
                  {"absolute positions", {}, {}, Kind::theory},
                  {"window", {}, {}},
                  {"absolute positions", {}, {}},
                  {"the paper's", {}, {}}};
  for (const Comparison& c : all) {
    const auto paper = paper_ratios.find(c.memory.W);
    const double ys[] = {counted(c.window, c.memory), counted(c.absolute, c.memory), ratio(c.window, c.memory),
                         ratio(c.absolute, c.memory), paper == paper_ratios.end() ? std::nan("") : paper->second};
    for (std::size_t k = 0; k < chart.series.size(); ++k) {
      chart.series[k].x.push_back(static_cast<double>(c.memory.W));
      chart.series[k].y.push_back(ys[k]);
    }
  }
  return chart;
}

void write_tables(const Settings& s, const std::vector<Comparison>& all, const std::vector<Measured>& sweep) {
  Table times({"attention_length", "vanilla_seconds_per_token", "memory_seconds_per_token", "ratio", "paper_ratio"});
  Table details({"attention_length", "method", "segment_length", "passes", "seconds_per_token", "shortest", "longest",
                 "multiplications_per_token", "nats"});
  const auto add_detail = [&](const Measured& m, const Cell& nats) {
    details.add_row({m.W, m.method, m.T, static_cast<Index>(m.seconds.size()), m.median(), m.seconds.front(),
                     m.seconds.back(), m.multiplications, nats});
  };
  for (const Comparison& c : all) {
    times.add_row(
        {c.memory.W, c.window.median(), c.memory.median(), ratio(c.window, c.memory), paper_ratio(c.memory.W)});
    add_detail(c.window, c.window_nats);
    add_detail(c.absolute, "");
    add_detail(c.memory, c.memory_nats);
  }
  for (const Measured& m : sweep) {
    if (m.T != s.segment_length) add_detail(m, "");
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

// The token behind which is measured: what comes before it fills every memory that is asked for.
Index find_start(const Settings& s, const Text& text) {
  Index start = 0, behind = s.tokens;
  std::vector<Index> segment_lengths = s.segment_lengths;
  segment_lengths.push_back(s.segment_length);
  for (const Index T : segment_lengths) {
    start = std::max(start, to_fill(s.attention_lengths.back(), T));
    behind = std::max(behind, s.segments * T);
  }
  const Index held_out = static_cast<Index>(text.held_out.size());
  if (start + behind < held_out) return start;
  throw ArgumentError(
      fmt::format("attention_lengths: expected {} and segments={} of up to {} behind it to fit into the {} bytes held "
                  "out of the book",
                  s.attention_lengths.back(), s.segments,
                  *std::max_element(segment_lengths.begin(), segment_lengths.end()), held_out));
}

struct Results {
  std::vector<Comparison> comparisons;
  std::vector<Measured> sweep;  // of segment lengths, with the longest attention
  double nats_without_memory;
};

Results measure(const Settings& s, const TransformerXL& model, const Text& text, Index start) {
  Random random(static_cast<std::uint64_t>(s.model.seed));
  const RivalTransformer absolute(make_config(s.model, V, 0), {.scheme = Scheme::sinusoids_restarting}, random);
  Index work = 0;
  for (const Index W : s.attention_lengths) work += W * W * (s.tokens + 1 + tokens_of_absolute + 1);
  Bench bench = {s, model, text.held_out, start, Progress("measuring", work)};
  Results results = {{}, {}, bench.memory_nats(0)};
  for (const Index W : s.attention_lengths) {
    const Comparison comparison = compare(bench, absolute, W);
    if (interrupted()) return results;
    results.comparisons.push_back(comparison);
  }
  for (const Index T : s.segment_lengths) {
    const Measured& known = results.comparisons.back().memory;
    const Measured measured = T == known.T ? known : bench.remember(known.W, T);
    if (interrupted()) break;
    results.sweep.push_back(measured);
  }
  return results;
}

void report(const Settings& s, const Config& config, const Results& results) {
  const std::vector<Comparison>& all = results.comparisons;
  print_times(s, all);
  print_counts(all);
  print_losses(s, all, results.nats_without_memory);
  if (!results.sweep.empty()) print_segments(config, all.back().window, results.sweep);
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
  make_config(s.model, V, training_memory);  // what makes no sense is to be said before anything else
  make_folder(s.out);
  set_thread_count(static_cast<int>(s.model.threads));
  const Text text = read_text("");
  check_length(text, s.model);
  const Index start = find_start(s, text);
  const TransformerXL model = train_model(s, text);
  const Results results = measure(s, model, text, start);
  if (!results.comparisons.empty()) report(s, model.config, results);  // unless interrupted before
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
  arguments.add("steps", s.model.steps, "training steps", 1);
  arguments.add("seed", s.model.seed, "seed of the weights", 0);
  arguments.add("threads", s.model.threads, "threads", 1, 256);
  arguments.add("out", s.out, "folder for the pictures and numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
