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
#include "xl/tasks/latest_key.hpp"
#include "xl/tasks/loss_by_distance.hpp"
#include "xl/tasks/periodic_copy.hpp"
#include "xl/tools/evaluation.hpp"
#include "xl/tools/loss_by_position.hpp"

using namespace segue;

namespace {

struct Settings {
  ModelSettings model = {.segment_length = 8, .steps = 200, .batch = 16};
  std::string data = "text,copy,recall";
  std::string encodings = "transformer_xl,shaw,sinusoids_restarting,none";
  std::string terms = "bcd,acd,abd,abc,bd";
  std::string text = "";  // the project's own book and README
  Index seeds = 5, text_steps = 500, memory_length = 16, period = 6, symbols = 8, keys = 8, rarity = 8;
  Index segments = 8, rows = 64;
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
bool has_recurrence(const Result& result) { return result.variant.M > 0; }
using Results = std::map<std::string, std::vector<Result>>;  // by data

struct Data {
  std::string name, what, unit;
  Index V;
};

std::vector<Data> chosen_data(const Settings& s) {
  const std::vector<Data> all = {{"text", "Bits per byte of a text", "bits per byte", 256},
                                 {"copy", "Copy over less than a segment", "nats", s.symbols},
                                 {"recall", "Recall of the latest key", "nats", 2 * s.keys}};
  std::vector<Data> chosen;
  std::istringstream names(s.data);
  for (std::string name; std::getline(names, name, ',');) {
    check_choice("data", name, {"text", "copy", "recall"});
    const auto is_it = [&name](const Data& data) { return data.name == name; };
    if (std::any_of(chosen.begin(), chosen.end(), is_it)) {
      throw ArgumentError(fmt::format("data: {} is named twice", name));
    }
    chosen.push_back(*std::find_if(all.begin(), all.end(), is_it));
  }
  if (chosen.empty()) throw ArgumentError("data: expected at least one of text, copy, recall, got none");
  return chosen;
}

// Each encoding with recurrence and without, then Transformer-XL with some of its terms, with recurrence.
std::vector<Variant> chosen_variants(const Settings& s) {
  std::vector<Variant> variants;
  for (const Encoding& encoding : encodings_of_argument("encodings", s.encodings)) {
    variants.push_back({encoding, s.memory_length});
    variants.push_back({encoding, 0});
  }
  std::string names;
  std::istringstream terms(s.terms);
  for (std::string some; std::getline(terms, some, ',');)
    names += (names.empty() ? "" : ",") + ("transformer_xl:" + some);
  if (!names.empty()) {
    for (const Encoding& encoding : encodings_of_argument("terms", names))
      variants.push_back({encoding, s.memory_length});
  }
  for (Variant& variant : variants) {
    variant.encoding.rows = s.model.segment_length + s.memory_length;  // a row for every distance
    variant.encoding.clamp = true;
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

LatestKey latest_key(const Settings& s) { return {s.keys, s.keys, s.rarity}; }

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

double learn_recall(const Settings& s, LanguageModel& model, Index seed) {
  const Index T = s.model.segment_length;
  Random random = random_of(seed, 1), fresh = random_of(seed, 2);
  TaskRows rows = latest_key_rows(latest_key(s), s.model.batch, T, s.segments, random);
  TaskRows others = latest_key_rows(latest_key(s), s.rows, T, s.segments, fresh);
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
  if (data == "recall") return latest_key_best_loss(latest_key(s), M, T, s.segments);
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
      if (data.name == "text") own.model.steps = s.text_steps;
      Random weights = random_of(seed, 0);
      const auto model = make_model(config_of(s, data.V, result.variant), result.variant.encoding, weights);
      const double loss = data.name == "text"   ? learn_text(own, text, *model, seed)
                          : data.name == "copy" ? learn_copy(own, *model, seed)
                                                : learn_recall(own, *model, seed);
      if (interrupted()) return;  // what is half trained does not count
      result.parameters = parameter_count(parameters(*model));
      result.seeds.push_back(seed);
      result.losses.push_back(loss);
      progress.update(++done,
                      fmt::format("{}: {}, M = {}: {:.3f}", data.name, result.variant.name(), result.variant.M, loss));
    }
  }
}

// The variant without recurrence beside one that has it; null where there is none.
const Result* without_recurrence(const std::vector<Result>& results, const Result& with) {
  for (const Result& r : results) {
    if (r.variant.M == 0 && r.variant.encoding == with.variant.encoding) return &r;
  }
  return nullptr;
}

// Each run is a dot, the runs of a variant are joined.
Chart chart_of(const Settings& s, const Data& data, const std::vector<Result>& results) {
  Chart chart;
  chart.title = data.what + ": a dot for each run";
  chart.description = "The loss of every run, a row for each encoding, with and without recurrence.";
  chart.x = {"loss", data.unit};
  chart.y = {"encoding"};
  if (data.name != "text") {
    chart.references = {{"theory with recurrence", best_loss(s, data.name, s.memory_length), true},
                        {"theory without", best_loss(s, data.name, 0), true}};
  }
  const auto add = [&chart](const char* name, double row, std::vector<double> losses) {
    std::sort(losses.begin(), losses.end());
    chart.series.push_back({name, losses, std::vector<double>(losses.size(), row)});
  };
  auto row = static_cast<double>(std::count_if(results.begin(), results.end(), has_recurrence));
  for (const Result& r : results) {
    if (!has_recurrence(r)) continue;
    chart.y.names.insert(chart.y.names.begin(), r.variant.name());  // the first on top
    add("with recurrence", row, r.losses);
    if (const Result* without = without_recurrence(results, r)) add("without recurrence", row, without->losses);
    row -= 1;
  }
  return chart;
}

std::string in_words(const Spread& spread) { return fmt::format("{:.3f} ± {:.3f}", spread.mean, spread.deviation); }
std::string in_words(const Difference& d) {
  return fmt::format("{:+.3f} ± {:.3f} {}", d.value, d.error, d.is_beyond_spread() ? "*" : " ");
}

void print_table(const Settings& s, const Data& data, const std::vector<Result>& results) {
  const auto line = [](const std::string& name, const std::string& with, const std::string& without,
                       const std::string& recurrence, const std::string& encoding) {
    fmt::print("  {:<22}{:>16}{:>18}{:>20}{:>20}\n", name, with, without, recurrence, encoding);
  };
  fmt::print("\n");
  line(data.name, "with", "without", "without  ", "encoding  ");
  line(data.unit, "recurrence", "recurrence", "- with  ", "- the first  ");
  const Spread first = spread_of(results[0].losses);
  for (const Result& r : results) {
    if (!has_recurrence(r)) continue;
    const Result* other = without_recurrence(results, r);
    const Spread with = spread_of(r.losses), without = spread_of(other ? other->losses : std::vector<double>());
    line(r.variant.name(), in_words(with), other ? in_words(without) : "",
         other ? in_words(difference(without, with)) : "", &r == &results[0] ? "" : in_words(difference(with, first)));
  }
  if (data.name == "text") return;
  const double nothing = std::log(static_cast<double>(data.name == "copy" ? s.symbols : s.keys));
  line("theory: one look", fmt::format("{:.3f}        ", best_loss(s, data.name, s.memory_length)),
       fmt::format("{:.3f}        ", best_loss(s, data.name, 0)), "", "");
  line("theory: no look", fmt::format("{:.3f}        ", nothing), fmt::format("{:.3f}        ", nothing), "", "");
}

// What the paper measured, in words' perplexity.
void print_paper(const std::string& data) {
  if (data == "text") {
    fmt::print(
        "\n  The paper's table 6, WikiText-103, perplexity with and without recurrence: transformer_xl 27.02 and\n"
        "  29.59, shaw 27.94 and 29.75.\n");
  }
  if (data == "copy") {
    fmt::print(
        "\n  The paper's table 7, One Billion Word (shuffled sentences), perplexity: transformer_xl 25.2 with\n"
        "  recurrence and 27.1 without, shaw 25.7 with.\n");
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

void show(const Settings& s, const std::vector<Data>& all_data, const Results& results) {
  for (const Data& data : all_data) {
    const std::vector<Result>& of_data = results.at(data.name);
    if (of_data.back().losses.empty()) break;  // interrupted before each variant had a run
    const Chart chart = chart_of(s, data, of_data);
    print(chart);
    print_table(s, data, of_data);
    print_paper(data.name);
    fmt::print("  Each model has {} parameters, to within {:.1f} %.\n\n", of_data[0].parameters,
               parameters_apart(of_data));
    write_svg(s.out + (data.name == all_data[0].name ? "/ablation.svg" : "/ablation_" + data.name + ".svg"), chart);
  }
  write_tables(s, all_data, results);
  fmt::print(
      "Means ± standard deviation of the runs, differences ± their standard error. A * marks what is more than\n"
      "three standard errors away from 0; of differences that are 0 in truth one in sixty is, with five runs.\n\n"
      "The pictures are in {0}/ablation*.svg, all runs in {0}/ablation.csv, their means in\n"
      "{0}/ablation_summary.csv.\n",
      s.out);
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
  const Index total = static_cast<Index>(all_data.size() * variants.size()) * s.seeds;
  fmt::print(
      "{} variants of a model, with recurrence (M = {}) or without (M = 0), in segments of T = {}. Each learns\n"
      "{} kind{} of data {} times, from other weights and on other data: {} models of equal size. On the text\n"
      "they take {} steps, else {}.\n\n",
      variants.size(), s.memory_length, s.model.segment_length, all_data.size(), all_data.size() == 1 ? "" : "s",
      s.seeds, total, s.text_steps, s.model.steps);
  {
    Progress progress("models", total);
    Index done = 0;
    for (Index seed = s.model.seed; seed < s.model.seed + s.seeds && !interrupted(); ++seed) {
      learn_all(s, all_data, text, seed, results, progress, done);
    }
  }
  if (!results[all_data[0].name].back().losses.empty()) show(s, all_data, results);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("ablation",
                      "Takes Transformer-XL apart: models with and without recurrence, with other encodings and fewer "
                      "terms, all of equal size, and whether they differ by more than their runs do.");
  arguments.add("data", s.data, "some of text, copy, recall");
  arguments.add("encodings", s.encodings, "names with commas between; each has a model without recurrence, too");
  arguments.add("terms", s.terms, "which of Transformer-XL's terms are on, as in bcd,acd; these have recurrence");
  arguments.add("seeds", s.seeds, "runs of each variant, with the seeds seed, seed + 1, ..", 2, 1000);
  arguments.add("memory_length", s.memory_length, "memory M of the models with recurrence, in tokens", 1, 4096);
  arguments.add("text_steps", s.text_steps, "training steps on the text", 1, most_steps);
  arguments.add("text", s.text, "file to learn from; empty for the project's own book and README");
  arguments.add("period", s.period, "period P of the copy, in tokens", 1, 4096);
  arguments.add("symbols", s.symbols, "size of the copy's alphabet V", 2, 65536);
  arguments.add("keys", s.keys, "keys of the recall, and as many kinds of noise", 1, 4096);
  arguments.add("rarity", s.rarity, "tokens of the recall among which one is a key", 2, 65536);
  arguments.add("segments", s.segments, "segments in a row of copy and recall", 2, 4096);
  arguments.add("rows", s.rows, "fresh rows to measure on", 1, 65536);
  add_arguments(arguments, s.model);
  arguments.add("out", s.out, "folder for the pictures and the numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
