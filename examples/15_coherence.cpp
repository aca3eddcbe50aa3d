#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "examples/support/chart.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/training.hpp"
#include "xl/tasks/story.hpp"
#include "xl/tools/sliding_generation.hpp"

using namespace segue;
namespace {
ModelSettings default_model() {
  ModelSettings m;
  m.steps = 600;
  m.batch = 16;
  m.learning_rate = 0.006;
  return m;
}
struct Settings {
  ModelSettings model = default_model();
  Index memory_length = 96, texts = 64, length = 240, short_memory = 32;
  double temperature = 1;
  std::string out = "out";
};
TransformerXL train_model(const Settings& s, Index M) {
  Random random(static_cast<std::uint64_t>(s.model.seed));
  TransformerXL model(make_config(s.model, static_cast<Index>(story_words().size()), M), random);
  TaskRows rows = story_rows(s.model.batch, s.model.segment_length, 16, random);
  run_training(fmt::format("training with M = {}", M), model, s.model, [&] { return rows.next(); });
  return model;
}
void judge(const Settings& s, const TransformerXL& model, Index M) {
  Random draw(static_cast<std::uint64_t>(s.model.seed) + 1);
  std::vector<std::vector<Index>> openings;
  std::vector<Random> random;
  for (Index b = 0; b < s.texts; ++b) {
    openings.push_back(story_opening(draw));
    random.emplace_back(static_cast<std::uint64_t>(s.model.seed * 1000 + b));
  }
  GenerationOptions options;
  options.length = s.length;
  options.memory_length = M;
  options.sampling.temperature = static_cast<Real>(s.temperature);
  const auto written = M > 0 ? generate(model, openings, options, random)
                             : generate_sliding(model, openings, s.length, options.sampling, random);
  Index sentences = 0, formed = 0, whole = 0;
  std::vector<Index> count(20), right(20);
  Index last_true = 0;
  for (std::size_t b = 0; b < written.size(); ++b) {
    std::vector<Index> text = openings[b];
    text.insert(text.end(), written[b].begin(), written[b].end());
    const StoryReading r = read_story(text);
    sentences += r.sentences;
    formed += r.well_formed;
    bool all = true;
    for (const Mention& m : r.mentions) {
      const auto bin = static_cast<std::size_t>(std::min<Index>(m.distance / 16, 19));
      ++count[bin];
      right[bin] += m.agrees;
      all &= m.agrees;
    }
    whole += all;
    last_true += r.true_to_opening.empty() || r.true_to_opening.back();
    if (b < 1) fmt::print("{}\n", story_text(text));
  }
  fmt::print("M={} well-formed {}/{} whole {}/{} last true {}\n", M, formed, sentences, whole, s.texts, last_true);
  for (std::size_t k = 0; k < 20; ++k)
    if (count[k]) fmt::print("  {:3} {:5} {:.3f}\n", k * 16, count[k], double(right[k]) / double(count[k]));
}
void tell(const Settings& s) {
  set_thread_count(static_cast<int>(s.model.threads));
  judge(s, train_model(s, 0), 0);
  const TransformerXL model = train_model(s, s.memory_length);
  judge(s, model, s.memory_length);
  judge(s, model, s.short_memory);
}
}  // namespace
int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("coherence", "x");
  arguments.add("memory_length", s.memory_length, "m", 1, 4096);
  arguments.add("short_memory", s.short_memory, "m", 1, 4096);
  arguments.add("texts", s.texts, "t", 1);
  arguments.add("length", s.length, "t", 1);
  arguments.add("temperature", s.temperature, "t", 0.0, 1e6);
  add_arguments(arguments, s.model);
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
