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
#include "xl/tools/model_size.hpp"

using namespace segue;

namespace {

struct Settings {
  ModelSettings model = {.segment_length = 128,
                         .layers = 3,
                         .heads = 2,
                         .width = 64,
                         .steps = 300,
                         .batch = 4,
                         .threads = 1,
                         .learning_rate = 0.004};
  std::vector<Index> attention_lengths = {800, 1800, 2800, 3800}, segment_lengths = {16, 32, 64, 128, 256, 512};
  Index tokens = 8, segments = 9;
  std::string out = "out";
  Index longest() const { return *std::max_element(attention_lengths.begin(), attention_lengths.end()); }
};

constexpr Index V = 256;  // bytes

// How many times as slow the vanilla model is, by attention length: table 9 of the paper.
const std::map<Index, double> paper_ratios = {{800, 363}, {1800, 773}, {2800, 1409}, {3800, 1874}};

// What predicting tokens in one way has taken.
struct Measured {
  std::string method;
  Index W, T;                   // attention length; queries of a pass
  double multiplications;       // a token
  std::vector<double> seconds;  // a token, in each pass, in order of size
  double median() const { return seconds[seconds.size() / 2]; }
};

// The ways to predict with one attention length, and the mean losses of the same few tokens.
struct Comparison {
  Measured window, absolute, memory;
  double window_nats, memory_nats;
};

double ratio(const Measured& window, const Measured& memory) { return window.median() / memory.median(); }
double counted(const Measured& window, const Measured& memory) {
  return window.multiplications / memory.multiplications;
}

// ---- Counting
// --------------------------------------------------------------------------------------------------------

// Multiplications of one forward pass; training_flops counts additions, too, and three times as much for a step.
double multiplications(Config config, Index T, Index M) {
  config.segment_length = T;
  config.memory_length = M;
  return training_flops(config, 1) / 6;
}

// Those of them that make keys and values of the M states in memory.
double of_keys_and_values(const Config& c, Index M) {
  return static_cast<double>(c.layers * 2 * M * c.width * c.heads * c.head_width);
}

// Those that only distances need: W_k,R for W of them, and W times W scores (b) + (d).
double of_distances(const Config& c, Index W) {
  return static_cast<double>(c.layers * W * c.heads * c.head_width) * static_cast<double>(c.width + W);
}

// ---- Measuring
// -------------------------------------------------------------------------------------------------------

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
  Measured slide(const LanguageModel& subject, const std::string& method, Index W, Index count, Evaluation& whole) {
    Laps laps;
    whole = evaluate_sliding(subject, part_of(text, start - W, start + count + 1), W, 1, [&](Index, Index) {
      progress.update(work_done += W * W, fmt::format("windows of {}", W));
      return laps.next();
    });
    // Not counted is the first pass, which predicts all W tokens behind the first.
    return {method, W, W, multiplications(subject.config, W, 0), laps.behind(1, 1)};
  }

  // Segments of T with a full memory of W.
  Measured remember(Index W, Index T) const {
    Laps laps;
    const Index filling = to_fill(W, T);
    evaluate(model, part_of(text, start - filling, start + s.segments * T + 1), T, W, 1,
             [&](Index, Index) { return laps.next(); });
    return {"memory", W, T, multiplications(model.config, T, W) / static_cast<double>(T), laps.behind(filling / T, T)};
  }

  // The mean loss of the first tokens behind `start`, with a memory of M.
  double memory_nats(Index M) const {
    const Index T = s.model.segment_length, begin = start - to_fill(std::max(M, T), T);
    return nats_behind(evaluate(model, part_of(text, begin, start + 1), T, M),
                       evaluate(model, part_of(text, begin, start + s.tokens + 1), T, M));
  }
};

constexpr Index tokens_of_absolute = 3;  // nothing but their time is asked for

Comparison compare(Bench& bench, const LanguageModel& absolute, Index W) {
  const Settings& s = bench.s;
  Evaluation whole;
  Comparison c;
  c.absolute = bench.slide(absolute, "window, absolute positions", W, tokens_of_absolute, whole);
  c.window = bench.slide(bench.model, "window", W, s.tokens, whole);
  c.memory = bench.remember(W, s.model.segment_length);
  if (interrupted()) return c;
  const Evaluation beginning = evaluate(bench.model, part_of(bench.text, bench.start - W, bench.start + 1), W, 0);
  c.window_nats = nats_behind(beginning, whole);
  c.memory_nats = bench.memory_nats(W);
  return c;
}

// ---- Telling
// ---------------------------------------------------------------------------------------------------------

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
      "  attention            window, ms           memory, microseconds    slower   paper\n",
      s.tokens, s.segments, s.model.segment_length, s.model.threads, s.model.threads == 1 ? "" : "s");
  for (const Comparison& c : all) {
    fmt::print("  {:>9}{:>26}{:>26}{:>10.0f}{:>8}\n", c.memory.W, with_spread(c.window, 1e3),
               with_spread(c.memory, 1e6), ratio(c.window, c.memory), paper_ratio(c.memory.W));
  }
}

void print_counts(const Config& config, const std::vector<Comparison>& all) {
  fmt::print(
      "\nWhy: millions of multiplications a token, and what the ratio would be if each took the same time. \"Once\"\n"
      "makes keys and values of a state in memory once, instead of in every segment. The last two columns are for\n"
      "a vanilla model that adds absolute positions to its input, as the paper's: it has no scores of distances.\n\n"
      "  attention    window   memory   ratio   once    absolute: ratio   slower\n");
  for (const Comparison& c : all) {
    const Index W = c.memory.W, T = c.memory.T;
    const double once = c.memory.multiplications - of_keys_and_values(config, W) / static_cast<double>(T);
    fmt::print("  {:>9}{:>10.1f}{:>9.3f}{:>8.0f}{:>7.0f}{:>19.0f}{:>9.0f}\n", W, c.window.multiplications / 1e6,
               c.memory.multiplications / 1e6, counted(c.window, c.memory), c.window.multiplications / once,
               counted(c.absolute, c.memory), ratio(c.absolute, c.memory));
  }
}

void print_losses(const Settings& s, const std::vector<Comparison>& all, double without) {
  fmt::print(
      "\nMean loss of the same {} tokens in nats, at every attention length. By segments without memory: {:.3f}\n\n"
      "  attention    window    memory    difference\n",
      s.tokens, without);
  for (const Comparison& c : all) {
    fmt::print("  {:>9}{:>10.3f}{:>10.3f}{:>+14.3f}\n", c.memory.W, c.window_nats, c.memory_nats,
               c.memory_nats - c.window_nats);
  }
}

// What T does to the ratio, at the longest attention.
void print_segments(const Measured& window, const std::vector<Measured>& sweep) {
  fmt::print("\nThe same with other segments, attention {}:\n\n       T   memory, microseconds    slower   counted\n",
             window.W);
  for (const Measured& m : sweep) {
    fmt::print("  {:>6}{:>23}{:>10.0f}{:>10.0f}\n", m.T, with_spread(m, 1e6), ratio(window, m), counted(window, m));
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
  chart.description = "Time of the window over time of memory against attention length, beside counts and the paper's.";
  chart.x = {"attention length", "tokens"};
  chart.y = {"times as slow"};
  chart.series = {
      {"window over memory", {}, {}, Kind::theory}, {"window over memory", {}, {}}, {"paper, table 9", {}, {}}};
  for (const Comparison& c : all) {
    const double W = static_cast<double>(c.memory.W);
    const auto paper = paper_ratios.find(c.memory.W);
    const double ys[] = {counted(c.window, c.memory), ratio(c.window, c.memory),
                         paper == paper_ratios.end() ? std::nan("") : paper->second};
    for (std::size_t k = 0; k < 3; ++k) {
      chart.series[k].x.push_back(W);
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
  for (const Measured& m : sweep) add_detail(m, "");
  write_csv(s.out + "/evaluation_speed.csv", times);
  write_csv(s.out + "/evaluation_speed_details.csv", details);
}

void draw(const Settings& s, const std::vector<Comparison>& all) {
  const Chart seconds = chart_of_seconds(all), ratios = chart_of_ratios(all);
  fmt::print("\n");
  print(seconds);
  fmt::print("\n");
  print(ratios);
  write_svg(s.out + "/evaluation_speed.svg", seconds);
  write_svg(s.out + "/evaluation_speed_ratio.svg", ratios);
}

// ---- The story
// -------------------------------------------------------------------------------------------------------

TransformerXL train_model(const Settings& s, const Text& text) {
  const Index T = s.model.segment_length;
  Config config = make_config(s.model, V, T);
  config.clamp_length = 2 * T;  // the longest distance that training meets stands for all beyond
  Random random(static_cast<std::uint64_t>(s.model.seed));
  TransformerXL model(config, random);
  Streams streams(text.training, s.model.batch, T, Tail::drop);
  const TrainingRun run = run_training("training", model, s.model, [&] { return streams.next(); });
  fmt::print("A model of {} weights, {} layers, D = {}, trained with T = M = {} to {:.2f} nats a byte.\n\n",
             parameter_count(run.optimizer.parameters), s.model.layers, s.model.width, T, run.loss);
  return model;
}

// The token behind which is measured: what comes before fills every memory that is asked for.
Index find_start(const Settings& s, const Text& text) {
  Index start = to_fill(s.longest(), s.model.segment_length), behind = s.segments * s.model.segment_length;
  for (const Index T : s.segment_lengths) {
    start = std::max(start, to_fill(s.longest(), T));
    behind = std::max(behind, s.segments * T);
  }
  const Index needed = start + std::max(behind, s.tokens) + 1, held_out = static_cast<Index>(text.held_out.size());
  if (needed <= held_out) return start;
  throw ArgumentError(
      fmt::format("attention_lengths: expected to fit, with segments={} of the longest, into the {} bytes held out of "
                  "the book, but they need {}",
                  s.segments, held_out, needed));
}

void tell(Settings s) {
  std::sort(s.attention_lengths.begin(), s.attention_lengths.end());
  std::sort(s.segment_lengths.begin(), s.segment_lengths.end());
  make_config(s.model, V, s.model.segment_length);  // what makes no sense is to be said before anything else
  make_folder(s.out);
  set_thread_count(static_cast<int>(s.model.threads));
  const Text text = read_text("");
  check_length(text, s.model);
  const Index start = find_start(s, text);
  const TransformerXL model = train_model(s, text);
  Random random(static_cast<std::uint64_t>(s.model.seed));
  const RivalTransformer absolute(make_config(s.model, V, 0), {.scheme = Scheme::sinusoids_restarting}, random);

  Index work = 0;
  for (const Index W : s.attention_lengths) work += W * W * (s.tokens + tokens_of_absolute + 2);
  std::vector<Comparison> all;
  std::vector<Measured> sweep;
  {
    Bench bench = {s, model, text.held_out, start, Progress("measuring", work)};
    for (const Index W : s.attention_lengths) {
      const Comparison comparison = compare(bench, absolute, W);
      if (interrupted()) break;
      all.push_back(comparison);
    }
    for (const Index T : s.segment_lengths) {
      const Measured measured = interrupted() ? Measured{} : bench.remember(s.longest(), T);
      if (!interrupted()) sweep.push_back(measured);
    }
  }
  if (all.empty()) return;  // interrupted before anything was measured
  print_times(s, all);
  print_counts(model.config, all);
  print_losses(s, all, 0.0);
  if (!sweep.empty()) print_segments(all.back().window, sweep);
  draw(s, all);
  write_tables(s, all, sweep);
  fmt::print(
      "\nThe pictures are in {0}/evaluation_speed.svg and {0}/evaluation_speed_ratio.svg, the numbers are in\n"
      "{0}/evaluation_speed.csv and {0}/evaluation_speed_details.csv.\n",
      s.out);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("evaluation_speed",
                      "Measures what a long context costs per token: with a sliding window, and with memory.");
  arguments.add("attention_lengths", s.attention_lengths, "how far back each token can look, in tokens", 1, 65536);
  arguments.add("segment_lengths", s.segment_lengths, "other segments to read with the longest memory, in tokens", 1,
                65536);
  arguments.add("tokens", s.tokens, "tokens that windows predict at each attention length", 1, 4096);
  arguments.add("segments", s.segments, "segments that are timed", 1, 4096);
  add_arguments(arguments, s.model);
  arguments.add("out", s.out, "folder for the pictures and numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
