// benchmark [key=value ...]: how fast this build is on this machine, as a table and as lines of JSON.
//
// A machine that others use, too, is fast in one second and slow in the next. So the runs of a case do not follow each
// other: all cases have their turn in each of five rounds, and the runs are shared out among the rounds. A disturbance
// of some seconds then falls on a few runs of many cases and moves no median. Spread is the distance of the quartiles.
// CPU time is what all threads of a case took together: it is longer than the run where they work side by side, and
// other programs hardly lengthen it.
#include <fmt/format.h>

#include <algorithm>

#include "examples/support/arguments.hpp"
#include "examples/support/bytes.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/progress.hpp"
#include "tensor/tools/peak.hpp"
#include "tests/benchmarks/case.hpp"
#include "tests/benchmarks/measure.hpp"
#include "tests/benchmarks/record.hpp"
#include "tests/benchmarks/statistics.hpp"

using namespace segue;

namespace {

struct Settings {
  std::vector<Index> threads = {1, 2};
  std::string filter, out, compare, with;
  Index runs = 15;
  bool best = false, list = false;
};

// A case with a number of threads, and what all visits to it have seen.
struct Measurement {
  Case what;
  Index threads;
  Visit seen;
};

void add_visit(Measurement& m, Index runs) {
  const Visit visit = segue::visit(m.what, static_cast<int>(m.threads), runs);
  m.seen.milliseconds.insert(m.seen.milliseconds.end(), visit.milliseconds.begin(), visit.milliseconds.end());
  m.seen.cpu_milliseconds.insert(m.seen.cpu_milliseconds.end(), visit.cpu_milliseconds.begin(),
                                 visit.cpu_milliseconds.end());
  m.seen.peak_tensor_bytes = std::max(m.seen.peak_tensor_bytes, visit.peak_tensor_bytes);
  m.seen.resident_bytes = std::max(m.seen.resident_bytes, visit.resident_bytes);
}

Record record_of(const Measurement& m, double peak) {
  Record record;
  record.name = m.what.name;
  record.threads = m.threads;
  record.runs = static_cast<Index>(m.seen.milliseconds.size());
  record.median_ms = median(m.seen.milliseconds);
  record.spread_ms = spread(m.seen.milliseconds);
  record.cpu_ms = median(m.seen.cpu_milliseconds);
  const double per_second = 1000 / (record.median_ms * m.what.parts);
  if (m.what.parts > 1) record.median_ns = record.median_ms * 1e6;
  record.tokens_per_s = m.what.tokens * per_second;
  record.gflops = 2 * m.what.products * per_second / 1e9;
  record.percent_of_peak = 100 * m.what.products * per_second / (peak * static_cast<double>(m.threads));
  record.peak_tensor_bytes = m.seen.peak_tensor_bytes;
  record.resident_bytes = m.seen.resident_bytes;
  return record;
}

std::vector<Record> measure(const Settings& s) {
  std::vector<Measurement> measurements;
  for (const Case& c : cases_with(s.filter)) {
    for (const Index threads : s.threads) measurements.push_back({c, threads, {}});
  }
  const Index rounds = std::min<Index>(s.runs, 5), visits = rounds * static_cast<Index>(measurements.size());
  double peak = 0;
  Index done = 0;
  {
    Progress progress("measuring", visits);
    for (Index round = 0; round < rounds && !interrupted(); ++round) {
      peak = std::max(peak, peak_multiply_adds());
      for (Measurement& m : measurements) {
        if (interrupted()) break;
        add_visit(m, s.runs / rounds + (round < s.runs % rounds ? 1 : 0));
        progress.update(++done, m.what.name);
      }
    }
  }
  std::vector<Record> records;
  for (const Measurement& m : measurements) {
    if (!m.seen.milliseconds.empty()) records.push_back(record_of(m, peak));
  }
  fmt::print("One thread multiplies and adds at most {:.1f} GFLOP/s.\n\n", 2 * peak / 1e9);
  return records;
}

std::vector<Record> read_file(const std::string& path) { return read_records(to_text(read_bytes(path)), path); }

void run(const Settings& s) {
  if (s.compare.empty() && !s.with.empty()) throw ArgumentError("with: expected compare=FILE beside it");
  if (s.compare.empty() && s.best) throw ArgumentError("best: expected compare=FILE beside it");
  if (s.list) {
    for (const Case& c : cases_with(s.filter)) fmt::print("{}\n", c.name);
    return;
  }
  const std::vector<Record> old_records = s.compare.empty() ? std::vector<Record>() : read_file(s.compare);
  const std::vector<Record> records = s.with.empty() ? measure(s) : read_file(s.with);
  if (s.with.empty()) {
    std::string lines;
    for (const Record& record : records) lines += to_json(record) + "\n";
    if (!s.out.empty()) write_text_file(s.out, lines);
    fmt::print("{}\n{}", to_table(records), lines);
  }
  if (!s.compare.empty()) {
    fmt::print("\nold: {}, new: {}\n{}", s.compare, s.with.empty() ? "this run" : s.with,
               compare(old_records, records, s.best));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("benchmark", "Measures training steps, products of matrices and single ops.");
  arguments.add("threads", s.threads, "numbers of threads to measure with", 1, 256);
  arguments.add("filter", s.filter, "only cases whose name contains one of these, with commas between");
  arguments.add("runs", s.runs, "runs of each case, in up to five rounds over all cases", 1, 100000);
  arguments.add("out", s.out, "file for the lines of JSON, which are printed anyway");
  arguments.add("compare", s.compare, "such a file of an earlier run, for a table of old / new");
  arguments.add("with", s.with, "a second file to compare it with; then nothing is measured");
  arguments.add("best", s.best, "compare the fastest number of threads of either");
  arguments.add("list", s.list, "print the names of the cases and measure nothing");
  return run_lesson(arguments, argc, argv, [&] { run(s); });
}
