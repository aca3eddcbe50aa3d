// Where the layer norm stands, and how fast one may learn.
//
// The same deep and narrow model with its layer norms behind the sub-layers, where the paper has them, or before them.
// First the gradient of each layer before any training; then many short runs, with and without warm-up, at learning
// rates that double: where does each of them break, and what has become of its gradients?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "examples/support/chart.hpp"
#include "examples/support/heat_map.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/progress.hpp"
#include "examples/support/training.hpp"
#include "nn/schedule.hpp"
#include "xl/tasks/periodic_copy.hpp"
#include "xl/tools/final_norm.hpp"
#include "xl/tools/gradient_flow.hpp"
#include "xl/tools/layer_gradients.hpp"

using namespace segue;

namespace {

struct Settings {
  ModelSettings model = {
      .segment_length = 8, .layers = 6, .heads = 2, .width = 16, .steps = 220, .batch = 16, .seed = 1};
  Index shallow = 2, seeds = 3, rates = 7;
  double lowest_rate = 0.004, shown_rate = 0.016, warm_up = 0.3, clip = 1;
  bool final_norm = false;
  std::string out = "out";
};

constexpr Index memory_length = 8, period = 6, symbols = 8;
constexpr Index segments_per_row = 4, untrained_models = 8;
constexpr std::ptrdiff_t last_steps = 20;  // whose mean is the final loss

enum class Norm { post, pre, pre_and_final };

std::unique_ptr<TransformerXL> make_model(const Settings& s, Norm norm, Index N, Random& random) {
  Config config = make_config(s.model, symbols, memory_length);
  config.layers = N;
  config.pre_norm = norm != Norm::post;
  if (norm == Norm::pre_and_final) return std::make_unique<FinalNormXL>(config, random);
  return std::make_unique<TransformerXL>(config, random);
}

PeriodicCopy make_task(const Settings& s, Random& random) {
  return PeriodicCopy(period, symbols, s.model.batch, s.model.segment_length, segments_per_row, random);
}

// ---- Gradients by layer
// ----------------------------------------------------------------------------------------------

// Norms of the gradient of the mean loss in the last segment of fresh rows.
std::vector<double> layer_gradients(const Settings& s, TransformerXL& model, Random& random) {
  PeriodicCopy task = make_task(s, random);
  gradient_of_last_segment(
      model, [&] { return task.next(); }, s.model.batch, segments_per_row);
  return layer_gradient_norms(model);
}

// The mean over several models that have not been trained.
std::vector<double> untrained_gradients(const Settings& s, Norm norm, Index N) {
  std::vector<double> mean(static_cast<std::size_t>(N));
  for (Index k = 0; k < untrained_models; ++k) {
    Random random(static_cast<std::uint64_t>(s.model.seed + k));
    const std::unique_ptr<TransformerXL> model = make_model(s, norm, N, random);
    const std::vector<double> norms = layer_gradients(s, *model, random);
    for (std::size_t n = 0; n < mean.size(); ++n) mean[n] += norms[n] / static_cast<double>(untrained_models);
  }
  return mean;
}

void tell_of_untrained(const Settings& s) {
  fmt::print(
      "Before training: the norm of the gradient in the first and in the last of N layers, the mean of {}\n"
      "models. Theory for the last one: with post-norm the same for every N; with pre-norm and a final norm\n"
      "it falls, at most as 1 / sqrt(1 + 3 N / 2), here from N = 1 on.\n\n"
      "          post-norm             pre-norm          pre-norm and a final norm\n"
      "   N    first    last         first    last         first    last  (theory)\n",
      untrained_models);
  double first = 0;
  for (const Index N : {1, 2, 4, 8, 12}) {
    const std::vector<double> post = untrained_gradients(s, Norm::post, N), pre = untrained_gradients(s, Norm::pre, N),
                              final = untrained_gradients(s, Norm::pre_and_final, N);
    if (N == 1) first = final[0];
    const double theory = first * std::sqrt(2.5 / (1 + 1.5 * static_cast<double>(N)));
    fmt::print("  {:>2}   {:6.3f}  {:6.3f}        {:6.3f}  {:6.3f}        {:6.3f}  {:6.3f}  ({:.3f})\n", N, post[0],
               post.back(), pre[0], pre.back(), final[0], final.back(), theory);
  }
  fmt::print("\n");
}

// ---- Runs
// ------------------------------------------------------------------------------------------------------------

struct Variant {
  std::string name;
  Norm norm;
  bool warm_up;
  Index layers;
};

struct Run {
  std::size_t variant, rate;
  Index seed;
  double final_loss;             // NaN when the loss itself was
  std::vector<double> norms;     // of the gradient in each step, before clipping
  double largest;                // of them,
  Index largest_at, skipped;     // the step it came in, and how many steps had a norm that was not finite
  std::vector<double> by_layer;  // norm of the gradient of each layer after training
};

std::vector<Variant> variants_of(const Settings& s) {
  const Norm pre = s.final_norm ? Norm::pre_and_final : Norm::pre;
  return {{"post-norm", Norm::post, false, s.model.layers},
          {"post, warm-up", Norm::post, true, s.model.layers},
          {"pre-norm", pre, false, s.model.layers},
          {"pre, warm-up", pre, true, s.model.layers},
          {fmt::format("post, N = {}", s.shallow), Norm::post, false, s.shallow},
          {fmt::format("pre, N = {}", s.shallow), pre, false, s.shallow}};
}

std::vector<double> rates_of(const Settings& s) {
  std::vector<double> rates = {s.lowest_rate};
  while (static_cast<Index>(rates.size()) < s.rates) rates.push_back(2 * rates.back());
  return rates;
}

double mean_of_last(const std::vector<double>& losses) {
  const auto count = std::min(static_cast<std::ptrdiff_t>(losses.size()), last_steps);
  return std::accumulate(losses.end() - count, losses.end(), 0.0) / static_cast<double>(count);
}

Run train_one(const Settings& s, const Variant& variant, double rate, Index seed) {
  Random random(static_cast<std::uint64_t>(seed));
  const std::unique_ptr<TransformerXL> model = make_model(s, variant.norm, variant.layers, random);
  PeriodicCopy task = make_task(s, random);
  Adam adam(parameters(*model));
  TrainingState state = {0, empty_memory(model->config, s.model.batch, memory_length), Random(1)};
  const double share = variant.warm_up ? s.warm_up : 0;
  const auto warm_up = static_cast<Index>(std::lround(share * static_cast<double>(s.model.steps)));
  Run run = {0, 0, seed, 0, {}, 0, 0, 0, {}};
  std::vector<double> losses;
  TrainingOptions options;
  options.steps = s.model.steps;
  options.clip = static_cast<Real>(s.clip);
  options.learning_rate = [&](Index step) {
    return warm_up_cosine(step, warm_up, s.model.steps + 1, static_cast<Real>(rate));
  };
  options.report = [&](const StepReport& step) {
    if (step.targets > 0) losses.push_back(step.loss);
    run.norms.push_back(step.gradient_norm);
    if (step.gradient_norm > run.largest) run.largest = step.gradient_norm, run.largest_at = step.step;
    run.skipped += step.skipped ? 1 : 0;
    return !interrupted();
  };
  train(
      *model, adam, state, [&] { return task.next(); }, options);
  run.final_loss = mean_of_last(losses);
  run.by_layer = layer_gradients(s, *model, random);
  return run;
}

struct Results {
  std::vector<Variant> variants;
  std::vector<double> rates;
  std::vector<Run> runs;
};

// Seed by seed, so that an interrupted lesson has whole maps to show.
Results train_all(const Settings& s) {
  const std::vector<Variant> variants = variants_of(s);
  const std::vector<double> rates = rates_of(s);
  std::vector<Run> runs;
  Progress progress("training", s.seeds * static_cast<Index>(variants.size() * rates.size()));
  for (Index seed = s.model.seed; seed < s.model.seed + s.seeds; ++seed) {
    for (std::size_t v = 0; v < variants.size(); ++v) {
      for (std::size_t r = 0; r < rates.size(); ++r) {
        Run run = train_one(s, variants[v], rates[r], seed);
        if (interrupted()) return {variants, rates, runs};
        run.variant = v, run.rate = r;
        runs.push_back(run);
        progress.update(static_cast<Index>(runs.size()),
                        fmt::format("{} at {:g}: loss {:.2f}", variants[v].name, rates[r], run.final_loss));
      }
    }
  }
  return {variants, rates, runs};
}

// ---- What they show
// --------------------------------------------------------------------------------------------------

// The runs of all seeds at one place of the map.
struct Place {
  double mean = 0, lowest = std::numeric_limits<double>::infinity(), highest = -lowest;  // of the final loss
  Index count = 0, learned = 0, skipped = 0, largest_at = 0;
  double largest = 0;  // norm of a gradient
};

Place place_of(const Results& results, std::size_t variant, std::size_t rate) {
  Place place;
  for (const Run& run : results.runs) {
    if (run.variant != variant || run.rate != rate) continue;
    ++place.count;
    place.mean += run.final_loss;
    place.lowest = std::min(place.lowest, run.final_loss);
    place.highest = std::max(place.highest, run.final_loss);
    place.skipped += run.skipped;
    if (run.final_loss < std::log(static_cast<double>(symbols)) / 2) ++place.learned;
    if (run.largest > place.largest) place.largest = run.largest, place.largest_at = run.largest_at;
  }
  place.mean /= static_cast<double>(place.count);  // NaN where nothing was trained
  return place;
}

void draw_map(const Settings& s, const Results& results) {
  HeatMap map;
  map.title = "How fast one may learn, by the place of the layer norm";
  map.description = "Final loss for each place of the layer norm, with warm-up and without, at each learning rate.";
  map.x = {"peak learning rate"};
  map.y = {"layer norm"};
  map.value = {"final loss", "nats"};
  map.values = Tensor::zeros({static_cast<Index>(results.variants.size()), static_cast<Index>(results.rates.size())});
  for (const double rate : results.rates) map.x_names.push_back(fmt::format("{:.3g}", rate));
  for (std::size_t v = 0; v < results.variants.size(); ++v) {
    map.y_names.push_back(results.variants[v].name);
    for (std::size_t r = 0; r < results.rates.size(); ++r) {
      map.values.set_in_place({static_cast<Index>(v), static_cast<Index>(r)},
                              static_cast<Real>(place_of(results, v, r).mean));
    }
  }
  map.boundaries = {{fmt::format("N = {} above", s.model.layers), 4}};
  print(map);
  write_svg(s.out + "/training_stability.svg", map);
}

const Run* find_run(const Settings& s, const Results& results, std::size_t variant) {
  for (const Run& run : results.runs) {
    if (run.variant == variant && results.rates[run.rate] == s.shown_rate) return &run;  // that of the first seed
  }
  return nullptr;
}

// With the first at x = 1.
Series numbered(const std::string& name, const std::vector<double>& y) {
  Series series = {name, std::vector<double>(y.size()), y};
  std::iota(series.x.begin(), series.x.end(), 1.0);
  return series;
}

void draw_steps(const Settings& s, const Results& results) {
  Chart chart;
  chart.title = fmt::format("The gradient while training, at the rate {:g}", s.shown_rate);
  chart.description = "Norm of the gradient before clipping over the steps, with post-norm and pre-norm.";
  chart.x = {"step"};
  chart.y = {"norm of the gradient", "", true};
  chart.references = {{"clipped above", s.clip}};
  for (std::size_t v = 0; v < 3; ++v) {
    if (const Run* run = find_run(s, results, v))
      chart.series.push_back(numbered(results.variants[v].name, run->norms));
  }
  write_svg(s.out + "/training_stability_steps.svg", chart);
}

void draw_layers(const Settings& s, const Results& results) {
  Chart chart;
  chart.title = fmt::format("The gradient by layer, before and after training at the rate {:g}", s.shown_rate);
  chart.description = "Norm of the gradient of each layer's parameters, with post-norm and pre-norm.";
  chart.x = {"layer, from the tokens to the logits"};
  chart.y = {"norm of the gradient", "", true};
  const Norm pre = s.final_norm ? Norm::pre_and_final : Norm::pre;
  chart.series = {numbered("post-norm, untrained", untrained_gradients(s, Norm::post, s.model.layers)),
                  numbered("pre-norm, untrained", untrained_gradients(s, pre, s.model.layers))};
  if (const Run* run = find_run(s, results, 0)) chart.series.push_back(numbered("post-norm, trained", run->by_layer));
  if (const Run* run = find_run(s, results, 2)) chart.series.push_back(numbered("pre-norm, trained", run->by_layer));
  fmt::print("\n");
  print(chart);
  fmt::print("\nThe gradient of the last layer, divided by that of the first:\n\n");
  for (const Series& line : chart.series) fmt::print("  {:<22} {:8.2g}\n", line.name, line.y.back() / line.y[0]);
  write_svg(s.out + "/training_stability_layers.svg", chart);
}

// Of each variant the highest rate at which all seeds learned, and the one behind it.
void print_edges(const Results& results) {
  const double guessing = std::log(static_cast<double>(symbols));
  fmt::print(
      "\nThe last rate at which every seed learns, and what happens at the next one. To learn is to end below\n"
      "half of ln {} = {:.3f}, which is what guessing costs:\n\n"
      "                   rate  final loss (lowest, highest)   learn  largest gradient  at step  skipped\n",
      symbols, guessing);
  const auto line = [&](const std::string& name, std::size_t v, std::size_t r) {
    const Place place = place_of(results, v, r);
    if (place.count == 0) return;  // interrupted
    fmt::print("  {:<14} {:>6.3g}  {:>10.3f} ({:.3f}, {:.3f})     {} of {}  {:>16.1f}  {:>7}  {:>7}\n", name,
               results.rates[r], place.mean, place.lowest, place.highest, place.learned, place.count, place.largest,
               place.largest_at, place.skipped);
  };
  for (std::size_t v = 0; v < results.variants.size(); ++v) {
    const auto all_learn = [&](std::size_t r) {
      const Place place = place_of(results, v, r);
      return place.count > 0 && place.learned == place.count;
    };
    std::size_t edge = results.rates.size();  // the first rate behind the last at which all learn
    while (edge > 0 && !all_learn(edge - 1)) --edge;
    if (edge > 0) line(results.variants[v].name, v, edge - 1);
    if (edge < results.rates.size()) line(edge > 0 ? "" : results.variants[v].name, v, edge);
  }
}

void write_tables(const Settings& s, const Results& results) {
  Table table({"norm", "layers", "warm_up", "learning_rate", "seed", "final_loss", "largest_gradient_norm",
               "largest_at_step", "skipped"});
  Table layers({"norm", "layers", "warm_up", "learning_rate", "seed", "layer", "gradient_norm"});
  for (const Run& run : results.runs) {
    const Variant& v = results.variants[run.variant];
    const char* norm = v.norm == Norm::post ? "post" : v.norm == Norm::pre ? "pre" : "pre_and_final";
    const double warm_up = v.warm_up ? s.warm_up : 0;
    table.add_row({norm, v.layers, warm_up, results.rates[run.rate], run.seed, run.final_loss, run.largest,
                   run.largest_at, run.skipped});
    for (std::size_t n = 0; n < run.by_layer.size(); ++n) {
      layers.add_row(
          {norm, v.layers, warm_up, results.rates[run.rate], run.seed, static_cast<Index>(n + 1), run.by_layer[n]});
    }
  }
  write_csv(s.out + "/training_stability.csv", table);
  write_csv(s.out + "/training_stability_layers.csv", layers);
}

void tell(const Settings& s) {
  make_config(s.model, symbols, memory_length);  // what makes no sense is to be said before anything else
  const std::vector<double> rates = rates_of(s);
  if (std::find(rates.begin(), rates.end(), s.shown_rate) == rates.end()) {
    throw ArgumentError(
        fmt::format("shown_rate: expected one of the rates {:g}, got {:g}", fmt::join(rates, ", "), s.shown_rate));
  }
  make_folder(s.out);
  fmt::print(
      "Does it matter whether the layer norm stands behind each sub-layer (post-norm) or before it\n"
      "(pre-norm)? Models of N = {} layers learn a text of period {} in {} steps, at rates that double.\n\n",
      s.model.layers, period, s.model.steps);
  set_thread_count(static_cast<int>(s.model.threads));
  tell_of_untrained(s);
  const Results results = train_all(s);
  if (results.runs.empty()) return;  // interrupted before anything was trained
  draw_map(s, results);
  draw_layers(s, results);
  draw_steps(s, results);
  print_edges(results);
  write_tables(s, results);
  fmt::print(
      "\nThe pictures are in {0}/training_stability.svg, {0}/training_stability_layers.svg and\n"
      "{0}/training_stability_steps.svg, the numbers are in {0}/training_stability.csv and\n"
      "{0}/training_stability_layers.csv.\n",
      s.out);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("training_stability",
                      "Trains with the layer norm behind the sub-layers and before them, at learning rates that "
                      "double, and shows where each of them breaks.");
  arguments.add("lowest_rate", s.lowest_rate, "the first peak learning rate; each next one is twice as high", positive,
                1.0);
  arguments.add("rates", s.rates, "how many learning rates", 1, 12);
  arguments.add("shown_rate", s.shown_rate, "the one of them whose gradients are drawn", positive);
  arguments.add("warm_up", s.warm_up, "share of the steps in which the rate rises, in the runs with warm-up", 0.0, 1.0);
  arguments.add("clip", s.clip, "largest norm of the gradient; longer ones are shortened to it", positive);
  arguments.add("final_norm", s.final_norm, "pre-norm has one more norm behind the last layer");
  arguments.add("shallow", s.shallow, "layers N of the shallow models", 1, 64);
  arguments.add("layers", s.model.layers, "layers N of the deep models", 1, 64);
  arguments.add("width", s.model.width, "width D of the model, a multiple of 2 heads = 4", 2, 4096);
  arguments.add("steps", s.model.steps, "training steps of each run", 1, most_steps);
  arguments.add("seed", s.model.seed, "the first seed of weights and data", 0, 1000000000);
  arguments.add("seeds", s.seeds, "runs of each kind, with a seed each", 1, 1000);
  arguments.add("threads", s.model.threads, "threads", 1, 256);
  arguments.add("out", s.out, "folder for the pictures and the numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
