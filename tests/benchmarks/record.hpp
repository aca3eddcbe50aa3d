// What was measured of a case: a line of JSON, and a line of the table.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tensor/error.hpp"
#include "tensor/real.hpp"

namespace segue {

struct Record {
  std::string name;  // of the case
  std::string engine = "segue";
  Index threads = 1;
  Index runs = 1;
  double median_ms = 0;
  double spread_ms = 0;  // distance of the quartiles
  double cpu_ms = 0;     // median of the time that all threads worked or waited without sleeping
  // What follows is 0 where it makes no sense; to_json leaves it out then.
  double median_ns = 0;  // the median again, for the parts of a long chain
  double tokens_per_s = 0;
  double gflops = 0;           // 1e9 flops a second, two for each product that model_size.hpp counts
  double percent_of_peak = 0;  // of as many times the peak of one thread as there are threads
  double peak_tensor_bytes = 0;
  double resident_bytes = 0;
};

/// One line, without its end: {"case": "train_step_tiny", "engine": "segue", "threads": 1, ..}.
std::string to_json(const Record& record);
/// The table of all records.
std::string to_table(const std::vector<Record>& records);

/// Name, engine, threads, median and CPU time (0 where there is none) of each line of a text of such lines, empty ones
/// aside. Several lines of the same case, engine and threads become one with the medians of their times. Throws
/// FileError naming `file` and the line.
std::vector<Record> read_records(const std::string& text, const std::string& file, Where where = Where::current());

/// Times of the cases that are in both, and old / new: above 1 the new is faster; at last old / new of the CPU times.
/// Of the same number of threads, or with `best` the fastest number of threads of either. Throws ValueError when they
/// have no case in common.
std::string compare(const std::vector<Record>& old_records, const std::vector<Record>& new_records, bool best);

}  // namespace segue
