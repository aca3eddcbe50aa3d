// How much of its attention a window lets a model keep.
//
// Suppose attention declines with distance, and half of it falls on the last h tokens. Of that, a model keeps what lies
// inside its window. How much that is depends on how the window meets the text: as segments cut off from each other, as
// a window that slides along, or as segments with a memory. No training: each share is added up key by key, and beside
// it stands what a closed form gives.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "examples/support/chart.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "xl/tools/context_retention.hpp"

using namespace segue;

namespace {

struct Settings {
  std::vector<Index> windows = {64, 128, 256, 512};
  Index positions = 1000;
  double half_distance = 64;
  std::string out = "out";
};

struct Scheme {
  std::string name;
  Segmentation segmentation;
};

// What a window of W tokens can mean.
std::vector<Scheme> schemes_of(Index W) {
  const Segmentation halves = {W - W / 2, W / 2};
  return {
      {"cut segments", cut_segments(W)},
      {fmt::format("memory {} + {}", halves.memory_length, halves.segment_length), halves},
      {"sliding window", sliding_window(W)},
      {fmt::format("memory {} + {}", W, W), {W, W}},
  };
}

double mean_keys(const Segmentation& segmentation, Index positions) {
  double sum = 0;
  for (Index t = 0; t < positions; ++t) sum += static_cast<double>(segmentation.keys(t));
  return sum / static_cast<double>(positions);
}

// The table of one kind of attention. Returns the largest difference between a sum and its closed form.
double print_table(const Settings& s, const std::string& kind, Decline decline, Table& table) {
  fmt::print("window   read as               keys    added up    closed form   difference\n");
  const Decay decay = {decline, s.half_distance};
  double largest = 0;
  for (const Index W : s.windows) {
    for (const Scheme& scheme : schemes_of(W)) {
      if (interrupted()) return largest;
      const double keys = mean_keys(scheme.segmentation, s.positions);
      const double summed = summed_retention(decay, scheme.segmentation, s.positions);
      const double closed = closed_retention(decay, scheme.segmentation, s.positions);
      largest = std::max(largest, std::abs(summed - closed));
      fmt::print("{:>6}   {:<18} {:>7.1f}  {:>8.4f} %   {:>9.4f} %   {:>10.0e}\n", W, scheme.name, keys, 100 * summed,
                 100 * closed, std::abs(summed - closed));
      table.add_row({kind, W, scheme.name, keys, summed, closed});
    }
    fmt::print("\n");
  }
  return largest;
}

// The share at each position, over the first segments of the first window.
Chart draw(const Settings& s) {
  const Index W = s.windows[0], shown = std::min(s.positions, 3 * W);
  Chart chart;
  chart.title = fmt::format("How much of its attention each position keeps: W = {}, h = {}", W, s.half_distance);
  chart.description =
      "Share of a mass that halves with distance: a saw-tooth for cut segments, a level for the sliding window, and "
      "flatter saw-teeth on a higher level for segments with memory.";
  chart.x = {"position in the text", "tokens"};
  chart.y = {"share kept", "%"};
  for (const Scheme& scheme : schemes_of(W)) {
    Series series = {
        scheme.name, {}, retention_by_position({Decline::exponential, s.half_distance}, scheme.segmentation, shown)};
    for (double& share : series.y) share *= 100, series.x.push_back(static_cast<double>(series.x.size()));
    chart.series.push_back(series);
  }
  return chart;
}

void tell(const Settings& s) {
  make_folder(s.out);
  fmt::print(
      "A query that sees everything before it spreads a mass of 1; half of it falls on the last h = {} tokens.\n"
      "What share of it is inside the window, on average over {} positions of a long text?\n\n"
      "  cut segments of W      position i of a segment sees i + 1 keys\n"
      "  memory M + segment T   position i of a segment sees M + i + 1 keys\n"
      "  sliding window of W    every position sees W keys\n\n",
      s.half_distance, s.positions);
  Table table({"attention", "window", "read_as", "mean_keys", "summed", "closed_form"});
  fmt::print("Attention that halves with every h tokens: beyond n keys lies 2^(-n/h).\n");
  const double exponential = print_table(s, "exponential", Decline::exponential, table);
  fmt::print("Attention with a long tail: beyond n keys lies h / (h + n).\n");
  const double power = print_table(s, "power", Decline::power, table);
  if (table.rows.empty()) return;  // interrupted before anything was added up
  const Chart chart = draw(s);
  print(chart);
  fmt::print("\nThe largest difference between what was added up and its closed form is {:.0e}.\n",
             std::max(exponential, power));
  write_csv(s.out + "/context_retention.csv", table);
  write_svg(s.out + "/context_retention.svg", chart);
  fmt::print("The picture is in {0}/context_retention.svg, the numbers are in {0}/context_retention.csv.\n", s.out);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("context_retention",
                      "Adds up how much of an attention that declines with distance lies inside a window, for three "
                      "ways to read a text.");
  arguments.add("windows", s.windows, "windows W, in tokens", 2, 8192);
  arguments.add("positions", s.positions, "positions to take the mean over", 1, 20000);
  arguments.add("half_distance", s.half_distance, "half of the mass falls on the last h tokens", positive, 1e6);
  arguments.add("out", s.out, "folder for the picture and the numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
