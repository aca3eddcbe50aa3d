#include "tests/benchmarks/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <locale>
#include <map>
#include <regex>
#include <sstream>

#include "nn/tools/json.hpp"
#include "tests/benchmarks/statistics.hpp"

namespace segue {
namespace {

// Four digits that count, so that long times and short ones can be read.
std::string shown_ms(double ms) {
  if (ms == 0) return "0";
  return ms < 0.01 ? fmt::format("{:.6f}", ms) : fmt::format("{:#.4g}", ms);
}

std::string shown(double value, int digits) { return value > 0 ? fmt::format("{:.{}f}", value, digits) : ""; }

// The fields of {"name": value, ..} with texts and numbers for values; none when the line is not of this form.
std::map<std::string, std::string> fields_of(const std::string& line) {
  static const std::regex field(R"re("(\w+)"\s*:\s*("([^"\\]*)"|[-+.\w]+))re"), between(R"re([\s,]+)re");
  if (std::regex_replace(std::regex_replace(line, field, ""), between, "") != "{}") return {};
  std::map<std::string, std::string> fields;
  for (std::sregex_iterator match(line.begin(), line.end(), field), end; match != end; ++match) {
    fields[(*match)[1]] = (*match)[3].matched ? (*match)[3] : (*match)[2];
  }
  return fields;
}

// The number that is the whole of `text`; NaN when it is not one. The user's locale does not matter.
double number_of(const std::string& text) {
  std::istringstream stream(text);
  stream.imbue(std::locale::classic());
  double value = 0;
  const bool whole = stream >> value && stream.peek() == std::istringstream::traits_type::eof();
  return whole ? value : std::numeric_limits<double>::quiet_NaN();
}

using Key = std::pair<std::string, Index>;  // a case and its threads

// Times by case and threads, or with `best` by case alone, of the fastest.
std::map<Key, Record> by_key(const std::vector<Record>& records, bool best) {
  std::map<Key, Record> chosen;
  for (const Record& record : records) {
    const auto [place, added] = chosen.try_emplace({record.name, best ? 0 : record.threads}, record);
    if (!added && record.median_ms < place->second.median_ms) place->second = record;
  }
  return chosen;
}

}  // namespace

std::string to_json(const Record& r) {
  std::string line = fmt::format(R"({{"case": {}, "engine": {}, "threads": {}, "runs": {})", json_quote(r.name),
                                 json_quote(r.engine), r.threads, r.runs);
  const auto add = [&line](const char* name, double value, int digits) {
    if (value > 0) line += fmt::format(R"(, "{}": {:.{}f})", name, value, digits);
  };
  line += fmt::format(R"(, "median_ms": {:.6g}, "spread_ms": {:.6g})", r.median_ms, r.spread_ms);
  if (r.cpu_ms > 0) line += fmt::format(R"(, "cpu_ms": {:.6g})", r.cpu_ms);
  add("median_ns", r.median_ns, 1);
  add("tokens_per_s", r.tokens_per_s, 1);
  add("gflops", r.gflops, 3);
  add("percent_of_peak", r.percent_of_peak, 2);
  add("peak_tensor_bytes", r.peak_tensor_bytes, 0);
  add("resident_bytes", r.resident_bytes, 0);
  return line + "}";
}

std::string to_table(const std::vector<Record>& records) {
  const char* const row = "{:<25} {:>7} {:>8} {:>8} {:>8} {:>9} {:>7} {:>6} {:>8} {:>6}\n";
  std::string text = fmt::format(fmt::runtime(row), "case", "threads", "ms", "spread", "CPU ms", "tokens/s", "GFLOP/s",
                                 "% peak", "peak MB", "RSS MB");
  for (const Record& r : records) {
    text += fmt::format(fmt::runtime(row), r.name, r.threads, shown_ms(r.median_ms), shown_ms(r.spread_ms),
                        shown_ms(r.cpu_ms), shown(r.tokens_per_s, 0), shown(r.gflops, 2), shown(r.percent_of_peak, 1),
                        shown(r.peak_tensor_bytes / 1e6, 1), shown(r.resident_bytes / 1e6, 1));
  }
  return text;
}

std::vector<Record> read_records(const std::string& text, const std::string& file, Where where) {
  std::vector<Record> records;
  std::vector<std::vector<double>> times, cpu_times;  // of each record
  std::istringstream lines(text);
  std::string line;
  for (Index number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::map<std::string, std::string> fields = fields_of(line);
    const double threads = number_of(fields["threads"]), ms = number_of(fields["median_ms"]);
    const double cpu = fields.contains("cpu_ms") ? number_of(fields["cpu_ms"]) : 0;
    if (fields["case"].empty() || !(threads >= 1 && threads <= 256) || !(ms > 0) || !(cpu >= 0)) {
      throw FileError(located(
          fmt::format("{}, line {}: expected a JSON object with case, threads and median_ms", file, number), where));
    }
    Record record;
    record.name = fields["case"];
    record.engine = fields["engine"];
    record.threads = static_cast<Index>(threads);
    const auto same = std::find_if(records.begin(), records.end(), [&](const Record& r) {
      return r.name == record.name && r.engine == record.engine && r.threads == record.threads;
    });
    const auto place = static_cast<std::size_t>(same - records.begin());
    if (same == records.end()) records.push_back(record), times.emplace_back(), cpu_times.emplace_back();
    times[place].push_back(ms);
    cpu_times[place].push_back(cpu);
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].median_ms = median(times[i]);
    records[i].cpu_ms = median(cpu_times[i]);
  }
  return records;
}

std::string compare(const std::vector<Record>& old_records, const std::vector<Record>& new_records, bool best) {
  const std::map<Key, Record> old_by_key = by_key(old_records, best), new_by_key = by_key(new_records, best);
  const char* const row = "{:<25} {:>11} {:>9} {:>11} {:>9} {:>10} {:>10}\n";
  std::string text =
      fmt::format(fmt::runtime(row), "case", "old threads", "ms", "new threads", "ms", "old / new", "CPU times");
  bool some = false;
  for (const Record& record : new_records) {  // in the order in which they were measured
    const Key key = {record.name, best ? 0 : record.threads};
    const auto old_place = old_by_key.find(key), new_place = new_by_key.find(key);
    if (old_place == old_by_key.end() || record.threads != new_place->second.threads) continue;
    const Record &before = old_place->second, &now = new_place->second;
    text += fmt::format(fmt::runtime(row), now.name, before.threads, shown_ms(before.median_ms), now.threads,
                        shown_ms(now.median_ms), shown(before.median_ms / now.median_ms, 3),
                        now.cpu_ms > 0 ? shown(before.cpu_ms / now.cpu_ms, 3) : "-");
    some = true;
  }
  if (!some) throw ValueError("compare: the two files have no case in common");
  return text;
}

}  // namespace segue
