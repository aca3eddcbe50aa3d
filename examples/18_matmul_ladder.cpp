// The matrix product, where a model spends most of its time: from three loops to the library's own, an idea a rung.
//
// Every rung is a function that gives the same numbers. The lesson times each, beside the most that one thread of this
// machine can multiply and add at all.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "examples/support/chart.hpp"
#include "examples/support/clock.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/progress.hpp"
#include "tensor/parallel.hpp"
#include "tensor/random.hpp"
#include "tensor/tools/matmul_ladder.hpp"
#include "tensor/tools/peak.hpp"

using namespace segue;

namespace {

struct Settings {
  std::vector<Index> sizes = {64, 128, 256, 512, 1024, 2048};
  double seconds = 0.05;
  Index threads = thread_count();
  std::string out = "out";
};

constexpr double too_long = 0.3;  // seconds that one product may take
constexpr int rounds = 3;         // over all sizes, so that what else the machine does meets each at another time

// ---- Timing -------------------------------------------------------------------------------------------------------

struct Line {
  Rung rung;
  int threads;
  double at_first = 0;         // GFLOP/s of small matrices, by which one guesses how long larger ones will take
  std::vector<double> gflops;  // one for each size; NaN where it was left out
  std::vector<double> spent;   // seconds, on each size
};

double operations(Index n) { return 2 * std::pow(static_cast<double>(n), 3); }

// GFLOP/s of the best of several bursts, each long enough for the clock: what disturbs one only makes it slower. One
// thread is timed by what it has of a processor, since other programs may take turns with it; several, by the clock on
// the wall. Adds the seconds it took to `spent`.
double time_bursts(const Line& line, const Tensor& x, const Tensor& y, double seconds, double& spent) {
  constexpr double shortest_burst = 1e-3;
  set_thread_count(line.threads);
  const auto now = line.threads == 1 ? processor_seconds : wall_seconds;
  Index calls = 1;
  double best = std::numeric_limits<double>::infinity(), total = 0;
  do {
    const double start = now();
    for (Index call = 0; call < calls; ++call) line.rung(x, y);
    const double time = now() - start;
    total += time;
    if (time < shortest_burst)
      calls *= 2;
    else
      best = std::min(best, time / static_cast<double>(calls));
  } while (total < seconds || std::isinf(best));
  spent += total;
  return 1e-9 * operations(x.dim(0)) / best;
}

// Whether a product of the k-th size would take too long, by how fast the size before was.
bool takes_too_long(const Settings& s, const Line& line, std::size_t k) {
  const double gflops = k == 0 ? line.at_first : line.gflops[k - 1];
  return !(1e-9 * operations(s.sizes[k]) / gflops < too_long);  // NaN, too: that size was left out already
}

struct Results {
  double peak = 0;  // GFLOP/s of one thread
  std::vector<Line> plain, transposed;
};

void time_all(const Settings& s, std::vector<Line>& lines, std::size_t k, const Tensor& x, const Tensor& y) {
  for (Line& line : lines) {
    if (line.spent[k] >= s.seconds || takes_too_long(s, line, k) || interrupted()) continue;
    const double gflops = time_bursts(line, x, y, s.seconds / rounds, line.spent[k]);
    line.gflops[k] = std::fmax(line.gflops[k], gflops);  // any number beats NaN
  }
}

Results begin(const Settings& s) {
  Results results;
  const Tensor small = Tensor::full({64, 64}, 1);
  double unused = 0;
  for (const Rung& rung : matmul_ladder()) {
    results.plain.push_back({rung, 1, 0, std::vector<double>(s.sizes.size(), std::nan("")), {}});
    Line& line = results.plain.back();
    line.spent.assign(s.sizes.size(), 0);
    line.at_first = time_bursts(line, small, small, 0, unused);
  }
  results.transposed.assign(results.plain.end() - 5, results.plain.end());  // from tiles on
  if (s.threads > 1) {
    Line shared = results.plain.back();
    shared.rung.name = fmt::format("{} threads", s.threads), shared.rung.idea = "its rows are shared out";
    shared.threads = static_cast<int>(s.threads);
    results.plain.push_back(shared);
  }
  return results;
}

Results measure(const Settings& s) {
  Results results = begin(s);
  Progress progress("timing", rounds * static_cast<Index>(s.sizes.size()));
  Index done = 0;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t k = 0; k < s.sizes.size() && !interrupted(); ++k) {
      const Index n = s.sizes[k];
      Random random(1);
      const Tensor x = random.uniform({n, n}, -1, 1), y = random.uniform({n, n}, -1, 1);
      results.peak = std::max(results.peak, 2e-9 * peak_multiply_adds());
      time_all(s, results.plain, k, x, y);
      time_all(s, results.transposed, k, x.transpose(0, 1), y);
      progress.update(++done, fmt::format("size {}", n));
    }
  }
  return results;
}

// ---- Telling ------------------------------------------------------------------------------------------------------

double percent_of_peak(const Line& line, std::size_t k, double peak) {
  return 100 * line.gflops[k] / (peak * line.threads);
}

std::string cell(const std::string& text, double value) { return std::isnan(value) ? "-" : text; }

void print_header(const Settings& s, const std::string& name, int width) {
  fmt::print("\n  {:<14}", name);
  for (const Index n : s.sizes) fmt::print("{:>{}}", n, width);
}

void print_speeds(const Settings& s, const std::vector<Line>& lines, double peak) {
  print_header(s, "size", 14);
  fmt::print("\n");
  for (const Line& line : lines) {
    fmt::print("  {:<14}", line.rung.name);
    for (std::size_t k = 0; k < line.gflops.size(); ++k) {
      const double speed = line.gflops[k];
      fmt::print("{:>14}", cell(fmt::format("{:.1f} ({:>4.1f}%)", speed, percent_of_peak(line, k, peak)), speed));
    }
    fmt::print("\n");
  }
}

void print_gains(const Settings& s, const std::vector<Line>& lines) {
  fmt::print("\nHow many times as fast as the rung before:\n");
  print_header(s, "size", 8);
  fmt::print("   idea\n");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    fmt::print("  {:<14}", lines[i].rung.name);
    for (std::size_t k = 0; k < s.sizes.size(); ++k) {
      const double gain = i == 0 ? std::nan("") : lines[i].gflops[k] / lines[i - 1].gflops[k];
      fmt::print("{:>8}", cell(fmt::format("{:.2f}", gain), gain));
    }
    fmt::print("   {}\n", lines[i].rung.idea);
  }
}

// The largest size that even the first rung was timed at, and what the whole ladder gained there.
void print_summary(const Settings& s, const Results& results) {
  const Line &first = results.plain.front(), &library = results.plain[results.transposed.size() + 3];
  for (std::size_t k = s.sizes.size(); k-- > 0;) {
    if (std::isnan(first.gflops[k]) || std::isnan(library.gflops[k])) continue;
    fmt::print(
        "\nAt size {} matmul is {:.0f} times as fast as three loops, on one thread, with {:.0f} % of the peak.\n",
        s.sizes[k], library.gflops[k] / first.gflops[k], percent_of_peak(library, k, results.peak));
    return;
  }
}

Chart chart_of(const Settings& s, const Results& results) {
  Chart chart;
  chart.title = "The same matrix product, rung by rung";
  chart.description =
      "Each rung's part of what one thread can multiply and add at most, over the size of the matrices.";
  chart.x = {"size of the matrices", "", true};
  chart.y = {fmt::format("part of the peak, {:.0f} GFLOP/s", results.peak), "%", true};
  for (const Line& line : results.plain) {
    const std::string& name = line.rung.name;  // three of them lie close to "tiles" and "matmul"
    if (line.threads > 1 || name == "panels" || name == "blocks" || name == "packed x") continue;
    chart.series.push_back({name, {}, {}});
    for (std::size_t k = 0; k < s.sizes.size(); ++k) {
      chart.series.back().x.push_back(static_cast<double>(s.sizes[k]));
      chart.series.back().y.push_back(percent_of_peak(line, k, results.peak));
    }
  }
  return chart;
}

void write_table(const std::string& path, const Settings& s, const std::vector<Line>& lines, double peak) {
  Table table({"rung", "size", "gflops", "percent_of_peak"});
  for (const Line& line : lines) {
    for (std::size_t k = 0; k < s.sizes.size(); ++k) {
      if (std::isnan(line.gflops[k])) continue;
      table.add_row({line.rung.name, s.sizes[k], line.gflops[k], percent_of_peak(line, k, peak)});
    }
  }
  write_csv(path, table);
}

void report(const Settings& s, const Results& results) {
  fmt::print("GFLOP/s of z = x y, all three of them square. In brackets: of the {:.1f} a thread can do at most.\n",
             results.peak);
  print_speeds(s, results.plain, results.peak);
  print_gains(s, results.plain);
  print_summary(s, results);
  fmt::print("\nGFLOP/s where x is a transposed view, as in the gradient of a weight:\n");
  print_speeds(s, results.transposed, results.peak);
  fmt::print("\n");
  const Chart chart = chart_of(s, results);
  print(chart);
  write_svg(s.out + "/matmul_ladder.svg", chart);
  write_table(s.out + "/matmul_ladder.csv", s, results.plain, results.peak);
  write_table(s.out + "/matmul_ladder_transposed.csv", s, results.transposed, results.peak);
  fmt::print(
      "\nThe picture is in {0}/matmul_ladder.svg, the numbers are in {0}/matmul_ladder.csv and, for a\n"
      "transposed x, in {0}/matmul_ladder_transposed.csv.\n",
      s.out);
}

void tell(Settings s) {
  std::sort(s.sizes.begin(), s.sizes.end());
  make_folder(s.out);
  const Results results = measure(s);
  if (results.peak > 0) report(s, results);  // unless interrupted before anything was timed
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("matmul_ladder", "Times the matrix product from three loops to the library's, an idea a rung.");
  arguments.add("sizes", s.sizes, "rows and columns of square matrices", 1, 2048);
  arguments.add("seconds", s.seconds, "how long to repeat each product, to take the best time", positive, 60);
  arguments.add("threads", s.threads, "threads of the last line", 1, 256);
  arguments.add("out", s.out, "folder for the picture and the numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
