// What a training step costs, and how that grows with each of the letters: T, M, D, N, B, and the number of threads.
//
// Around one base size, one number at a time is changed. For every size the lesson takes the time of a step and weighs
// its tensors, and it counts the products of matrices and the numbers to be held that should explain both. To each goes
// an exponent: that of the power of the size which fits best. Then it asks how long a segment should be, if each token
// is to see so many tokens before it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "examples/support/chart.hpp"
#include "examples/support/clock.hpp"
#include "examples/support/exponent.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/progress.hpp"
#include "examples/support/step_bytes.hpp"
#include "examples/support/training.hpp"
#include "xl/tools/model_size.hpp"

using namespace segue;

namespace {

struct Settings {
  ModelSettings base = {.segment_length = 64, .layers = 2, .heads = 2, .width = 64, .batch = 4};
  Index memory_length = 64;
  std::vector<Index> segment_lengths = {16, 32, 64, 128, 256, 512, 1024},
                     memory_lengths = {64, 128, 256, 512, 1024, 2048}, widths = {32, 64, 128, 256, 512},
                     depths = {1, 2, 4, 8, 16}, batches = {1, 2, 4, 8, 16, 32};
  Index context = 512;
  std::vector<Index> context_segments = {16, 32, 64, 128, 256, 512};
  Index rounds = 4;
  std::string out = "out";
};

constexpr Index V = 256;                 // bytes
constexpr double shortest_visit = 0.02;  // seconds, in which small steps are repeated

// One size, and what its steps cost.
struct Point {
  Config config;
  Index B;
  int threads = 1;
  bool by_the_wall = false;  // timed by the clock on the wall, instead of by what the process had of a processor
  double products = 0, counted_bytes = 0;
  double seconds = std::nan("");  // the shortest step
  double bytes = std::nan("");
  std::shared_ptr<RandomTraining> training = nullptr;

  double tokens() const { return static_cast<double>(B * config.segment_length); }
};

// What is changed, and to which sizes. The limits are the exponents of what grows fastest in each count.
struct Axis {
  std::string name;
  double time_limit, bytes_limit;
  std::vector<Index> sizes;
  std::vector<std::size_t> points;  // one for each size
};

struct Study {
  std::vector<Point> points;  // the base first
  std::vector<Axis> axes;
  std::vector<std::size_t> context;  // points with a memory of settings.context, and one without memory
};

// ---- What is to be measured ---------------------------------------------------------------------------------------

// The place of the point among those of the study, which gets it unless it has it.
std::size_t add_point(Study& study, const ModelSettings& s, Index M, int threads = 1, bool by_the_wall = false) {
  Point point = {make_config(s, V, M), s.batch, threads, by_the_wall};
  const auto same = [&](const Point& p) {
    return p.config == point.config && p.B == s.batch && p.threads == threads && p.by_the_wall == by_the_wall;
  };
  const auto found = std::find_if(study.points.begin(), study.points.end(), same);
  if (found != study.points.end()) return static_cast<std::size_t>(found - study.points.begin());
  point.products =
      forward_products(point.config, s.batch, s.segment_length, M) + backward_products(point.config, s.batch);
  point.counted_bytes = counted_step_bytes(point.config, s.batch);
  study.points.push_back(point);
  return study.points.size() - 1;
}

// The axis of one member of the base.
void add_axis(Study& study, const Settings& s, Axis axis, Index ModelSettings::*member) {
  for (const Index size : axis.sizes) {
    ModelSettings changed = s.base;
    changed.*member = size;
    axis.points.push_back(add_point(study, changed, s.memory_length));
  }
  study.axes.push_back(axis);
}

// 1, 2, 4, .. threads at the width D.
void add_threads(Study& study, const Settings& s, Index D) {
  ModelSettings changed = s.base;
  changed.width = D;
  Axis axis = {fmt::format("threads, D = {}", D), -1, 0, {}, {}};
  for (Index threads = 1; threads < s.base.threads; threads *= 2) axis.sizes.push_back(threads);
  axis.sizes.push_back(s.base.threads);
  for (const Index threads : axis.sizes) {
    axis.points.push_back(add_point(study, changed, s.memory_length, static_cast<int>(threads), true));
  }
  study.axes.push_back(axis);
}

Study plan(Settings s) {
  for (std::vector<Index>* sizes :
       {&s.segment_lengths, &s.memory_lengths, &s.widths, &s.depths, &s.batches, &s.context_segments}) {
    std::sort(sizes->begin(), sizes->end());
  }
  Study study;
  add_point(study, s.base, s.memory_length);
  add_axis(study, s, {"segment T", 2, 1, s.segment_lengths, {}}, &ModelSettings::segment_length);
  Axis memory = {"memory M", 1, 1, s.memory_lengths, {}};
  for (const Index M : memory.sizes) memory.points.push_back(add_point(study, s.base, M));
  study.axes.push_back(memory);
  add_axis(study, s, {"width D", 2, 2, s.widths, {}}, &ModelSettings::width);
  add_axis(study, s, {"layers N", 1, 1, s.depths, {}}, &ModelSettings::layers);
  add_axis(study, s, {"rows B", 1, 1, s.batches, {}}, &ModelSettings::batch);
  add_threads(study, s, s.base.width);
  if (s.widths.back() != s.base.width) add_threads(study, s, s.widths.back());

  ModelSettings changed = s.base;
  for (const Index T : s.context_segments) {
    changed.segment_length = T;
    study.context.push_back(add_point(study, changed, s.context));
  }
  changed.segment_length = 2 * s.context;
  study.context.push_back(add_point(study, changed, 0));
  return study;
}

// ---- Measuring ----------------------------------------------------------------------------------------------------

// Trainings are shared by the points that differ in nothing but the threads.
void prepare(std::vector<Point>& points, Point& point) {
  set_thread_count(point.threads);  // each thread has a few bytes of its own
  const WeighedTraining weighed = weigh(point.config, point.B);
  point.bytes = weighed.peak_bytes;
  point.training = weighed.training;
  for (const Point& other : points) {
    if (&other != &point && other.training && other.config == point.config && other.B == point.B) {
      point.training = other.training;
    }
  }
}

// Equal steps need equal work, and what else the machine does only makes them longer: the shortest counts.
void take_times(Point& point) {
  set_thread_count(point.threads);
  const auto now = point.by_the_wall ? wall_seconds : processor_seconds;
  for (double spent = 0; spent < shortest_visit && !interrupted();) {
    const double start = now();
    point.training->step();
    const double time = now() - start;
    spent += time;
    point.seconds = std::fmin(point.seconds, time);  // any number beats NaN
  }
}

// All sizes in turn, several times over, so that a busy moment of the machine meets none of them each time.
void measure(const Settings& s, Study& study) {
  Progress progress("measuring", s.rounds * static_cast<Index>(study.points.size()));
  Index done = 0;
  for (Index round = 0; round < s.rounds; ++round) {
    for (Point& point : study.points) {
      if (interrupted()) return;
      if (round == 0) prepare(study.points, point);
      take_times(point);
      const Config& c = point.config;
      progress.update(++done, fmt::format("T {} M {} D {} N {} B {}", c.segment_length, c.memory_length, c.width,
                                          c.layers, point.B));
    }
  }
}

// ---- Telling ------------------------------------------------------------------------------------------------------

std::string cell(double value, int digits) { return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value, digits); }

double mebibytes(double bytes) { return bytes / (1024 * 1024); }

using Value = double (*)(const Point&);
double measured_time(const Point& p) { return p.seconds; }
double counted_time(const Point& p) { return p.products / p.threads; }
double measured_bytes(const Point& p) { return p.bytes; }
double counted_bytes(const Point& p) { return p.counted_bytes; }

// Of the last `count` points of an axis, or of all.
double exponent(const Study& study, const Axis& axis, Value value, std::size_t count) {
  std::vector<double> x, y;
  for (std::size_t i = axis.sizes.size() - std::min(count, axis.sizes.size()); i < axis.sizes.size(); ++i) {
    x.push_back(static_cast<double>(axis.sizes[i]));
    y.push_back(value(study.points[axis.points[i]]));
  }
  return fitted_exponent(x, y);
}

void print_axis(const Study& study, const Axis& axis) {
  fmt::print("\n  {:<18}{:>9}{:>12}{:>12}{:>10}{:>10}{:>10}\n", axis.name, "ms", "tokens/s", "products", "GFLOP/s",
             "MiB", "counted");
  for (std::size_t i = 0; i < axis.sizes.size(); ++i) {
    const Point& p = study.points[axis.points[i]];
    fmt::print("  {:<18}{:>9}{:>12}{:>12}{:>10}{:>10}{:>10}\n", axis.sizes[i], cell(1e3 * p.seconds, 2),
               cell(p.tokens() / p.seconds, 0), fmt::format("{:.1f} M", p.products / 1e6),
               cell(2e-9 * p.products / p.seconds, 1), cell(mebibytes(p.bytes), 2),
               cell(mebibytes(p.counted_bytes), 2));
  }
}

void print_exponents(const Study& study, Value measured, Value counted, double Axis::*limit) {
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  fmt::print("  {:<20}{:>12}{:>11}{:>10}{:>11}{:>10}{:>9}\n", "", "sizes", "measured", "counted", "measured", "counted",
             "limit");
  for (const Axis& axis : study.axes) {
    const auto of = [&](Value value, std::size_t count) { return cell(exponent(study, axis, value, count), 2); };
    fmt::print("  {:<20}{:>12}{:>11}{:>10}{:>11}{:>10}{:>9}\n", axis.name,
               fmt::format("{} .. {}", axis.sizes.front(), axis.sizes.back()), of(measured, all), of(counted, all),
               of(measured, 2), of(counted, 2), axis.*limit);
  }
}

void print_exponents(const Study& study) {
  fmt::print("\nExponent of the time of a step            all sizes          the last two\n");
  print_exponents(study, measured_time, counted_time, &Axis::time_limit);
  fmt::print("\nExponent of its bytes                     all sizes          the last two\n");
  print_exponents(study, measured_bytes, counted_bytes, &Axis::bytes_limit);
}

// T for which the products of a token are fewest, with a memory of M.
double best_segment(const Config& c, Index B, Index M) {
  const double rows = static_cast<double>(B), D = static_cast<double>(c.width);
  return std::sqrt((8 + 4 / rows) * static_cast<double>(M) * D / 9);
}

void print_context(const Settings& s, const Study& study) {
  fmt::print(
      "\nA context of {0}: with a memory of M = {0} every token sees as many before it, with T = {1} and no memory "
      "the\n"
      "tokens do on average. Processor time and products of a token, and bytes of a step:\n\n"
      "       T       M    sees at least   on average   microseconds     products       MiB   tokens a step\n",
      s.context, 2 * s.context);
  for (const std::size_t place : study.context) {
    const Point& p = study.points[place];
    const Index T = p.config.segment_length, M = p.config.memory_length;
    fmt::print("  {:>6}{:>8}{:>17}{:>13}{:>15}{:>13}{:>10}{:>16}\n", T, M, M,
               cell(static_cast<double>(M) + static_cast<double>(T - 1) / 2, 1), cell(1e6 * p.seconds / p.tokens(), 1),
               fmt::format("{:.3f} M", p.products / p.tokens() / 1e6), cell(mebibytes(p.bytes), 1), p.tokens());
  }
  fmt::print("\nBy counting, a token is cheapest with T = sqrt((8 + 4 / B) M D / 9) = {:.0f}.\n",
             best_segment(study.points.front().config, s.base.batch, s.context));
}

// Each axis but the threads, both lengths in units of the base.
Chart chart_of(const Settings& s, const Study& study, const std::string& what, Value measured, Value counted) {
  const Index base[] = {s.base.segment_length, s.memory_length, s.base.width, s.base.layers, s.base.batch};
  Chart chart;
  chart.title = "How the " + what + " of a training step grow" + (what == "bytes" ? "" : "s");
  chart.description = "The " + what + " against each size, all in units of the base, measured and counted.";
  chart.x = {"size, in units of the base", "", true};
  chart.y = {what + ", in units of the base", "", true};
  for (const Kind kind : {Kind::theory, Kind::measured}) {
    const Value value = kind == Kind::theory ? counted : measured;
    for (std::size_t a = 0; a < std::size(base); ++a) {
      const Axis& axis = study.axes[a];
      Series series = {axis.name, {}, {}, kind};
      for (std::size_t i = 0; i < axis.sizes.size(); ++i) {
        series.x.push_back(static_cast<double>(axis.sizes[i]) / static_cast<double>(base[a]));
        series.y.push_back(value(study.points[axis.points[i]]) / value(study.points.front()));
      }
      chart.series.push_back(series);
    }
  }
  return chart;
}

void write_table(const std::string& path, const Settings& s, const Study& study) {
  Table table({"axis", "size", "T", "M", "D", "N", "B", "threads", "seconds_per_step", "tokens_per_second", "products",
               "peak_bytes", "counted_bytes"});
  const auto add = [&](const std::string& axis, Index size, const Point& p) {
    if (std::isnan(p.seconds)) return;
    const Config& c = p.config;
    table.add_row({axis, size, c.segment_length, c.memory_length, c.width, c.layers, p.B, p.threads, p.seconds,
                   p.tokens() / p.seconds, p.products, p.bytes, p.counted_bytes});
  };
  for (const Axis& axis : study.axes) {
    for (std::size_t i = 0; i < axis.sizes.size(); ++i) add(axis.name, axis.sizes[i], study.points[axis.points[i]]);
  }
  for (const std::size_t place : study.context) {
    add(fmt::format("context of {}", s.context), study.points[place].config.segment_length, study.points[place]);
  }
  write_csv(path, table);
}

void report(const Settings& s, const Study& study) {
  fmt::print(
      "A training step of a Transformer-XL with T = {}, M = {}, D = {}, N = {}, B = {}, V = {}, where a table says\n"
      "nothing else. Time: of the processor on one thread, but of the clock on the wall for several threads; the\n"
      "shortest step. Products: multiply-adds of matrices. MiB: the most that tensors held, and as counted.\n",
      s.base.segment_length, s.memory_length, s.base.width, s.base.layers, s.base.batch, V);
  for (const Axis& axis : study.axes) print_axis(study, axis);
  print_exponents(study);
  print_context(s, study);
  const Chart time = chart_of(s, study, "time", measured_time, counted_time);
  const Chart bytes = chart_of(s, study, "bytes", measured_bytes, counted_bytes);
  for (const Chart& chart : {time, bytes}) {
    fmt::print("\n");
    print(chart);
  }
  write_svg(s.out + "/cost_growth.svg", time);
  write_svg(s.out + "/cost_growth_bytes.svg", bytes);
  write_table(s.out + "/cost_growth.csv", s, study);
  fmt::print(
      "\nThe pictures are in {0}/cost_growth.svg and {0}/cost_growth_bytes.svg, the numbers are in\n"
      "{0}/cost_growth.csv.\n",
      s.out);
}

void tell(const Settings& s) {
  Study study = plan(s);  // what makes no sense is to be said before anything else
  make_folder(s.out);
  measure(s, study);
  if (!std::isnan(study.points.front().seconds)) report(s, study);  // unless interrupted before
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("cost_growth",
                      "Measures how time and bytes of a training step grow with each size of a Transformer-XL.");
  arguments.add("segment_length", s.base.segment_length, "segment length T of the base", 1, 16384);
  arguments.add("memory_length", s.memory_length, "memory length M of the base", 1, 65536);
  arguments.add("width", s.base.width, "width D of the base, a multiple of 2 heads", 2, 2048);
  arguments.add("layers", s.base.layers, "layers N of the base", 1, 64);
  arguments.add("batch", s.base.batch, "rows B of the base", 1, 1024);
  arguments.add("heads", s.base.heads, "heads H, of all", 1, 64);
  arguments.add("segment_lengths", s.segment_lengths, "other T", 1, 16384);
  arguments.add("memory_lengths", s.memory_lengths, "other M", 1, 65536);
  arguments.add("widths", s.widths, "other D", 2, 2048);
  arguments.add("depths", s.depths, "other N", 1, 64);
  arguments.add("batches", s.batches, "other B", 1, 1024);
  arguments.add("threads", s.base.threads, "the most threads to try", 1, 256);
  arguments.add("context", s.context, "a memory M that shows so many tokens to each", 1, 8192);
  arguments.add("context_segments", s.context_segments, "T to train with such a memory", 1, 16384);
  arguments.add("rounds", s.rounds, "times to go over all sizes", 1, 1000);
  arguments.add("out", s.out, "folder for the pictures and the numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
