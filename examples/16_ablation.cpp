// Which part of Transformer-XL does what? One part is taken away or exchanged at a time: the recurrence, the position
// encoding, each of the four terms of a score.
//
// All models have equally many parameters and take equally many steps. Each is trained several times, from other
// weights and on other data, since one run of a small model says little: a difference counts when it is large beside
// the spread.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <vector>

#include "examples/support/chart.hpp"
#include "examples/support/encodings.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/progress.hpp"
#include "examples/support/spread.hpp"
#include "examples/support/training.hpp"
#include "xl/rivals/model.hpp"
#include "xl/tasks/loss_by_distance.hpp"
#include "xl/tasks/pair_stream.hpp"
#include "xl/tasks/periodic_copy.hpp"
#include "xl/tools/evaluation.hpp"
#include "xl/tools/loss_by_position.hpp"

using namespace segue;

namespace {

ModelSettings default_model() {
  ModelSettings m;
  m.steps = 300;
  m.batch = 8;
  return m;
}

struct Settings {
  ModelSettings model = default_model();
  std::string data = "text,copy,pairs";
  std::string encodings =
      "transformer_xl,shaw,sinusoids_restarting,none,transformer_xl:bcd,transformer_xl:acd,transformer_xl:abd,"
      "transformer_xl:abc";
  std::string text = "";  // the project's own book and README
  Index seeds = 5, memory_length = 16, period = 12, symbols = 8, keys = 8, segments = 8, rows = 32;
  std::string out = "out";
};

struct Variant {
  Encoding encoding;
  Index M;  // 0 is a model without recurrence
  std::string name() const { return encoding_name(encoding); }
};

// All runs of one variant on one kind of data.
struct Result {
  Variant variant;
  Index parameters = 0;
  std::vector<Index> seeds;
  std::vector<double> losses;
};
using Results = std::map<std::string, std::vector<Result>>;  // by data; each encoding with recurrence, then without

struct Data {
  std::string name, what, unit;
  Index V;
};

std::vector<Data> chosen_data(const Settings& s) {
  const std::vector<Data> all = {{"text", "held-out text", "bits per byte", 256},
                                 {"copy", "copy within a segment's length", "nats", s.symbols},
                                 {"pairs", "values of keys met before", "nats", 2 * s.keys}};
  std::vector<Data> chosen;
  std::istringstream names(s.data);
  for (std::string name; std::getline(names, name, ',');) {
    check_choice("data", name, {"text", "copy", "pairs"});
    for (const Data& data : all) {
      if (data.name == name) chosen.push_back(data);
    }
  }
  if (chosen.empty()) throw ArgumentError("data: expected at least one of text, copy, pairs, got none");
  return chosen;
}

std::vector<Variant> chosen_variants(const Settings& s) {
  std::vector<Variant> variants;
  for (Encoding encoding : encodings_of_argument("encodings", s.encodings)) {
    encoding.rows = s.model.segment_length + s.memory_length, encoding.clamp = true;  // a row for every distance
    variants.push_back({encoding, s.memory_length});
    variants.push_back({encoding, 0});
  }
  return variants;
}

// Encodings come with parameters of their own, from none to tables. The feed-forward layers are made wider or narrower
// until all models have as many as Transformer-XL, but for less than half of what one more unit in each layer adds.
Config config_of(const Settings& s, Index V, const Variant& variant) {
  Config config = make_config(s.model, V, variant.M);
  const auto count = [&config](const Encoding& encoding) {
    Random random(1);
    return parameter_count(parameters(*make_model(config, encoding, random)));
  };
  const auto missing = static_cast<double>(count(Encoding()) - count(variant.encoding));
  const auto unit = static_cast<double>(config.layers * (2 * config.width + 1));
  config.feed_forward_width = std::max<Index>(1, config.feed_forward_width + std::lround(missing / unit));
  return config;
}

Random random_of(Index seed, std::uint64_t use) { return Random(10 * static_cast<std::uint64_t>(seed) + use); }

// Trains a model and gives its loss on what it has not seen. A seed has the same data for all variants.
double learn_text(const Settings& s, const Text& text, LanguageModel& model, Index seed) {
  const Index T = s.model.segment_length;
  Streams streams(text.training, s.model.batch, T, Tail::drop);
  streams.seek(random_of(seed, 1).below(streams.segments()));
  train_quietly(model, s.model, [&] { return streams.next(); });
  return evaluate(model, text.held_out, T, model.config.memory_length, s.rows).bits();
}

// The first segment of a copy whose targets can be known and whose memory is full.
Index first_full_segment(const Settings& s) {
  return (std::max(s.period, s.memory_length) - 1) / s.model.segment_length + 1;
}

double learn_copy(const Settings& s, LanguageModel& model, Index seed) {
  const Index T = s.model.segment_length;
  Random random = random_of(seed, 1), fresh = random_of(seed, 2);
  PeriodicCopy task(s.period, s.symbols, s.model.batch, T, s.segments, random);
  PeriodicCopy others(s.period, s.symbols, s.rows, T, s.segments, fresh);
  train_quietly(model, s.model, [&] { return task.next(); });
  const std::vector<double> losses = loss_by_position(
      model, [&] { return others.next(); }, s.segments, model.config.memory_length);
  return spread_of(loss_by_place(losses, T, first_full_segment(s))).mean;
}

double learn_pairs(const Settings& s, LanguageModel& model, Index seed) {
  const Index T = s.model.segment_length;
  const PairStream task = {s.keys, s.keys};
  Random random = random_of(seed, 1), fresh = random_of(seed, 2);
  TaskRows rows = pair_stream_rows(task, s.model.batch, T, s.segments, random);
  TaskRows others = pair_stream_rows(task, s.rows, T, s.segments, fresh);
  train_quietly(model, s.model, [&] { return rows.next(); });
  double loss = 0, targets = 0;
  for (const LossAtDistance& at : loss_by_distance(model, others, s.segments, model.config.memory_length)) {
    loss += at.loss * static_cast<double>(at.targets);
    targets += static_cast<double>(at.targets);
  }
  return loss / targets;
}

// The lowest loss that one look with a memory of M allows; NaN for a text, of which nobody knows it.
double best_loss(const Settings& s, const std::string& data, Index M) {
  const Index T = s.model.segment_length;
  if (data == "pairs") return pair_stream_best_loss({s.keys, s.keys}, M, T, s.segments);
  if (data == "text") return std::nan("");
  double best = 0;
  for (Index i = 0; i < T; ++i) {
    best += periodic_copy_best_loss(M, i, s.period, s.symbols) / static_cast<double>(T);
  }
  return best;
}

// One run more for each variant and each kind of data, all with the same seed.
void learn_all(const Settings& s, const std::vector<Data>& all_data, const Text& text, Index seed, Results& results,
               Progress& progress, Index& done) {
  for (const Data& data : all_data) {
    for (Result& result : results[data.name]) {
      Settings own = s;
      own.model.seed = seed;
      Random weights = random_of(seed, 0);
      const auto model = make_model(config_of(s, data.V, result.variant), result.variant.encoding, weights);
      const double loss = data.name == "text"   ? learn_text(own, text, *model, seed)
                          : data.name == "copy" ? learn_copy(own, *model, seed)
                                                : learn_pairs(own, *model, seed);
      if (interrupted()) return;  // what is half trained does not count
      result.parameters = parameter_count(parameters(*model));
      result.seeds.push_back(seed);
      result.losses.push_back(loss);
      progress.update(++done,
                      fmt::format("{}: {}, M = {}: {:.3f}", data.name, result.variant.name(), result.variant.M, loss));
    }
  }
}

// Each run is a dot, the runs of a variant are joined.
Chart chart_of(const Settings& s, const Data& data, const std::vector<Result>& results) {
  Chart chart;
  chart.title = fmt::format("{}, {} runs for each variant", data.what, s.seeds);
  chart.title[0] = static_cast<char>(std::toupper(chart.title[0]));
  chart.description = "Loss of every run, by encoding in rows, with and without recurrence.";
  chart.x = {"loss", data.unit};
  chart.y = {"encoding"};
  for (std::size_t k = 0; k < results.size(); ++k) {
    const Result& r = results[k];
    if (r.variant.M == 0) chart.y.names.insert(chart.y.names.begin(), r.variant.name());
    Series series = {r.variant.M > 0 ? "with recurrence" : "without", r.losses, {}};
    std::sort(series.x.begin(), series.x.end());
    series.y.assign(series.x.size(), static_cast<double>(results.size() / 2 - k / 2));  // the first on top
    chart.series.push_back(series);
  }
  return chart;
}

std::string in_words(const Spread& spread) { return fmt::format("{:.3f} ± {:.3f}", spread.mean, spread.deviation); }
std::string in_words(const Difference& d) {
  return fmt::format("{:+.3f} ± {:.3f} {}", d.value, d.error, d.is_beyond_spread() ? "*" : " ");
}

void print_table(const Settings& s, const Data& data, const std::vector<Result>& results) {
  fmt::print("\n  {:<22}{:>18}{:>18}  {:>18}  {:>18}\n  {:<22}{:>18}{:>18}  {:>18}  {:>18}\n", data.unit, "with", "",
             "without recurrence", "this encoding", "", "recurrence", "without", "- with", "- the first");
  const Spread first = spread_of(results[0].losses);
  for (std::size_t k = 0; k + 1 < results.size(); k += 2) {
    const Spread with = spread_of(results[k].losses), without = spread_of(results[k + 1].losses);
    fmt::print("  {:<22}{:>19}{:>19}  {:>19}  {:>19}\n", results[k].variant.name(), in_words(with), in_words(without),
               in_words(difference(without, with)), k == 0 ? "" : in_words(difference(with, first)));
  }
  if (data.name == "text") return;
  fmt::print("  {:<22}{:>10.3f}{:>18.3f}\n  {:<22}{:>10.3f}{:>18.3f}\n", "theory: one look",
             best_loss(s, data.name, s.memory_length), best_loss(s, data.name, 0), "theory: nothing known",
             std::log(static_cast<double>(data.name == "copy" ? s.symbols : s.keys)),
             std::log(static_cast<double>(data.name == "copy" ? s.symbols : s.keys)));
}

// What the paper measured, in words' perplexity.
void print_paper(const std::string& data) {
  if (data == "text") {
    fmt::print(
        "  The paper's table 6, WikiText-103, perplexity with and without recurrence: ours 27.02 and 29.59,\n"
        "  Shaw et al. 27.94 and 29.75.\n");
  }
  if (data == "copy") {
    fmt::print(
        "  The paper's table 7, One Billion Word (shuffled sentences), perplexity: ours 25.2, Shaw et al. 25.7,\n"
        "  ours without recurrence 27.1.\n");
  }
}

// "transformer_xl:acd" as "transformer_xl" and "acd"; other schemes have no terms.
std::pair<std::string, std::string> name_and_terms(Encoding e) {
  std::string terms;
  if (e.scheme == Scheme::transformer_xl) {
    terms = fmt::format("{}{}{}{}", e.term_a ? "a" : "", e.term_b ? "b" : "", e.term_c ? "c" : "", e.term_d ? "d" : "");
  }
  e.term_a = e.term_b = e.term_c = e.term_d = true;
  return {encoding_name(e), terms};
}

void write_tables(const Settings& s, const std::vector<Data>& all_data, const Results& results) {
  Table runs({"data", "encoding", "terms", "memory_length", "seed", "parameters", "loss"});
  Table summary({"data", "encoding", "terms", "memory_length", "parameters", "runs", "mean", "deviation", "error"});
  for (const Data& data : all_data) {
    for (const Result& r : results.at(data.name)) {
      const auto names = name_and_terms(r.variant.encoding);
      for (std::size_t k = 0; k < r.losses.size(); ++k) {
        runs.add_row({data.name, names.first, names.second, r.variant.M, r.seeds[k], r.parameters, r.losses[k]});
      }
      const Spread spread = spread_of(r.losses);
      summary.add_row({data.name, names.first, names.second, r.variant.M, r.parameters, spread.runs, spread.mean,
                       spread.deviation, spread.error});
    }
  }
  write_csv(s.out + "/ablation.csv", runs);
  write_csv(s.out + "/ablation_summary.csv", summary);
}

// How far apart the numbers of parameters are, in percent of the smallest.
double parameters_apart(const std::vector<Result>& results) {
  const auto smaller = [](const Result& a, const Result& b) { return a.parameters < b.parameters; };
  const auto [least, most] = std::minmax_element(results.begin(), results.end(), smaller);
  return 100 * static_cast<double>(most->parameters - least->parameters) / static_cast<double>(least->parameters);
}

void tell(const Settings& s) {
  const std::vector<Data> all_data = chosen_data(s);  // what makes no sense is said before anything else
  const std::vector<Variant> variants = chosen_variants(s);
  for (const Data& data : all_data) config_of(s, data.V, variants[0]);
  make_folder(s.out);
  set_thread_count(static_cast<int>(s.model.threads));
  const Text text = read_text(s.text);
  check_length(text, s.model);
  Results results;
  for (const Data& data : all_data) {
    for (const Variant& variant : variants) results[data.name].push_back({variant, 0, {}, {}});
  }
  Index done = 0;
  const Index total = static_cast<Index>(all_data.size() * variants.size()) * s.seeds;
  fmt::print(
      "{} encodings, each with recurrence (M = {}) and without, on {} kinds of data, {} times each: {} models of\n"
      "equal size, {} steps each, in segments of T = {}.\n\n",
      variants.size() / 2, s.memory_length, all_data.size(), s.seeds, total, s.model.steps, s.model.segment_length);
  {
    Progress progress("models", total);
    for (Index seed = s.model.seed; seed < s.model.seed + s.seeds && !interrupted(); ++seed) {
      learn_all(s, all_data, text, seed, results, progress, done);
    }
  }
  for (const Data& data : all_data) {
    const std::vector<Result>& of_data = results[data.name];
    if (of_data.back().losses.empty()) break;  // interrupted before each variant had a run
    const Chart chart = chart_of(s, data, of_data);
    print(chart);
    print_table(s, data, of_data);
    fmt::print("  {} parameters each, to within {:.1f} %.\n\n", of_data[0].parameters, parameters_apart(of_data));
    print_paper(data.name);
    write_svg(s.out + (data.name == all_data[0].name ? "/ablation.svg" : "/ablation_" + data.name + ".svg"), chart);
  }
  write_tables(s, all_data, results);
  fmt::print(
      "The pictures are in {0}/ablation*.svg, all runs in {0}/ablation.csv, their means in {0}/ablation_summary.csv.\n",
      s.out);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("ablation",
                      "Takes Transformer-XL apart: models with and without recurrence, with other encodings and fewer "
                      "terms, all of equal size, and whether they differ by more than their runs do.");
  arguments.add("data", s.data, "some of text, copy, pairs");
  arguments.add("encodings", s.encodings, "names with commas between; transformer_xl:acd has three of the four terms");
  arguments.add("seeds", s.seeds, "runs of each variant, with the seeds seed, seed + 1, ..", 2, 1000);
  arguments.add("memory_length", s.memory_length, "memory M of the models with recurrence, in tokens, even", 2, 4096);
  arguments.add("text", s.text, "file to learn from; empty for the project's own book and README");
  arguments.add("period", s.period, "period P of the copy, in tokens", 1, 4096);
  arguments.add("symbols", s.symbols, "size of the copy's alphabet V", 2, 65536);
  arguments.add("keys", s.keys, "keys of the pairs, and as many values", 1, 4096);
  arguments.add("segments", s.segments, "segments in a row of copy and pairs", 2, 4096);
  arguments.add("rows", s.rows, "fresh rows to measure on", 1, 65536);
  add_arguments(arguments, s.model);
  arguments.add("out", s.out, "folder for the pictures and the numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
