// The benchmark itself: what it counts, how it sums up, what it writes and reads. No test here depends on a time.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "examples/support/arguments.hpp"
#include "tensor/tools/peak.hpp"
#include "tests/benchmarks/case.hpp"
#include "tests/benchmarks/measure.hpp"
#include "tests/benchmarks/record.hpp"
#include "tests/benchmarks/statistics.hpp"
#include "tests/support/tiny_models.hpp"

namespace segue::benchmarks_benchmark_test {

TEST_CASE("Median and spread are those of the textbook, and one wild value moves neither far") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 3, 2}) == 2.5);
  CHECK(quantile({1, 2, 3, 4, 5}, 0.25) == 2);
  CHECK(spread({5, 3, 1, 2, 4}) == 2);
  CHECK(spread({5000, 3, 1, 2, 4}) == 2);
  CHECK(spread({7}) == 0);
  CHECK_THROWS_AS(median({}), ValueError);
}

TEST_CASE("A record becomes one line of JSON, without the fields that make no sense") {
  Record record;
  record.name = "train_step_tiny";
  record.threads = 2;
  record.runs = 15;
  record.median_ms = 2.5;
  record.spread_ms = 0.125;
  record.cpu_ms = 4.75;
  record.tokens_per_s = 25600;
  record.gflops = 12.3456;
  record.percent_of_peak = 10.5;
  record.peak_tensor_bytes = 1000000;
  record.resident_bytes = 20000000;
  CHECK(to_json(record) ==
        R"({"case": "train_step_tiny", "engine": "segue", "threads": 2, "runs": 15, "median_ms": 2.5, )"
        R"("spread_ms": 0.125, "cpu_ms": 4.75, "tokens_per_s": 25600.0, "gflops": 12.346, "percent_of_peak": 10.50, )"
        R"("peak_tensor_bytes": 1000000, "resident_bytes": 20000000})");
  Record node;
  node.name = "scalar_node";
  node.median_ms = 0.00015;
  node.median_ns = 150;
  CHECK(to_json(node) == R"({"case": "scalar_node", "engine": "segue", "threads": 1, "runs": 1, "median_ms": 0.00015, )"
                         R"("spread_ms": 0, "median_ns": 150.0})");
}

TEST_CASE("Lines are read back, in any spacing, and several of one case become their median") {
  Record written;
  written.name = "a";
  written.median_ms = 4;
  const std::vector<Record> records =
      read_records(to_json(written) +
                       "\n\n"
                       "{\"median_ms\":1e1,\"threads\":2,\"case\":\"a\",\"engine\":\"pytorch\"}\n"
                       "{\"case\": \"a\", \"engine\": \"segue\", \"threads\": 1, \"median_ms\": 6}\n",
                   "some.jsonl");
  REQUIRE(records.size() == 2);
  CHECK(records[0].engine == "segue");
  CHECK(records[0].median_ms == 5);
  CHECK(records[1].engine == "pytorch");
  CHECK(records[1].threads == 2);
  CHECK(records[1].median_ms == 10);
  for (const char* bad : {"nothing", R"({"case": "a", "threads": 1})", R"({"case": "a", "threads": 0, "median_ms": 2})",
                          R"({"case": "a", "threads": 1, "median_ms": 2ms})",
                          R"({"case": "a", "threads": 1, "median_ms": 2} and more)"}) {
    CAPTURE(bad);
    CHECK(holds(thrown_by<FileError>([&] { read_records(to_json(written) + "\n" + bad, "some.jsonl"); }),
                "some.jsonl, line 2: expected a JSON object with case, threads and median_ms"));
  }
}

TEST_CASE("Ratios are old / new of the same threads, or of the fastest") {
  const auto record = [](const std::string& name, Index threads, double ms) {
    Record r;
    r.name = name, r.threads = threads, r.median_ms = ms;
    return r;
  };
  std::vector<Record> before = {record("a", 1, 30), record("a", 2, 20), record("b", 1, 1)};
  std::vector<Record> now = {record("a", 1, 10), record("a", 2, 40), record("c", 1, 1)};
  const std::string same = compare(before, now, false);
  CHECK(holds(same, " 3.000 "));
  CHECK(holds(same, " 0.500 "));
  CHECK(std::count(same.begin(), same.end(), '\n') == 3);  // neither b nor c
  before[0].cpu_ms = 30;
  now[0].cpu_ms = 8;
  CHECK(holds(compare(before, now, false), " 3.000      3.750\n"));
  const std::string best = compare(before, now, true);
  CHECK(holds(best, " 2.000 "));
  CHECK(std::count(best.begin(), best.end(), '\n') == 2);
  CHECK(holds(thrown_by<ValueError>([&] { compare({before[2]}, now, false); }), "no case in common"));
}

TEST_CASE("Every case has a name of its own, and a filter picks by parts of it") {
  std::set<std::string> names;
  for (const Case& c : all_cases()) names.insert(c.name);
  CHECK(names.size() == all_cases().size());
  for (const char* name : {"train_step_tiny", "train_step_small", "train_step_medium", "matmul_1024x1024x1024",
                           "matmul_1024x128x512", "matmul_64x64x32x128_nt", "scalar_node", "evaluate_memory_3800",
                           "generate_token", "softmax", "layer_norm", "cross_entropy"}) {
    CAPTURE(name);
    CHECK(names.count(name) == 1);
  }
  CHECK(cases_with("").size() == names.size());
  CHECK(cases_with("scalar,token").size() == 2);
  CHECK(holds(thrown_by<ArgumentError>([] { cases_with("tinny"); }),
              "filter: no case has \"tinny\" in its name; list=true"));
}

TEST_CASE("A child's numbers come back, and its failure is an error here") {
  std::vector<double> many(100000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i);
  CHECK(in_child_process([&] { return many; }) == many);
  CHECK_THROWS_AS(in_child_process([]() -> std::vector<double> { throw Error("expected: this line is of a test"); }),
                  Error);
}

TEST_CASE("A visit runs as often as asked and tells the memory of its case alone") {
  Case ones;
  ones.name = "ones";
  ones.prepare = [] { return [] { Tensor::full({250000}, 1); }; };
  const Tensor elsewhere = Tensor::zeros({1000000});
  const Visit seen = visit(ones, 1, 3);
  CHECK(seen.milliseconds.size() == 3);
  CHECK(*std::min_element(seen.milliseconds.begin(), seen.milliseconds.end()) > 0);
  CHECK(seen.peak_tensor_bytes == 250000 * sizeof(Real));
  CHECK(seen.resident_bytes > seen.peak_tensor_bytes);
  CHECK(peak_multiply_adds() > 1e6);
}

}  // namespace segue::benchmarks_benchmark_test
