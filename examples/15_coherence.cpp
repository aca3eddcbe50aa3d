// Does a text agree with itself?
//
// Two models of equal size learn to write stories, one with a memory and one without. Both then write on from the same
// openings, token by token. A reader who knows the rule of the language marks each name, town and instrument that comes
// back: is it the one it was, and how far back was it mentioned last?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "examples/support/chart.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/training.hpp"
#include "xl/tasks/story.hpp"
#include "xl/tools/model_size.hpp"
#include "xl/tools/sliding_generation.hpp"

using namespace segue;

namespace {

struct Settings {
  ModelSettings model = {.segment_length = 32, .steps = 2000, .batch = 16};
  Index memory_length = 96, cut_memory = 16, texts = 128, length = 240, shown = 160;
  double temperature = 1;
  std::string out = "out";
};

constexpr Index segments_per_story = 8;
constexpr double chance = 1 / static_cast<double>(story_values);

Config config_of(const Settings& s, Index M) {
  return make_config(s.model, static_cast<Index>(story_words().size()), M);
}

TransformerXL train_model(const Settings& s, Index M) {
  Random random(static_cast<std::uint64_t>(s.model.seed));
  TransformerXL model(config_of(s, M), random);
  TaskRows rows = story_rows(s.model.batch, s.model.segment_length, segments_per_story, random);
  run_training(fmt::format("training with M = {}", M), model, s.model, [&] { return rows.next(); });
  return model;
}

// A mention in a written text, and what is to be expected of whoever sees `reach` tokens back and no further.
struct Judged {
  StoryMention mention;
  double repeats;          // the chance that it repeats the last mention: 1 within reach, beyond it one in so many
  double true_to_opening;  // the same, once any mention of the fact was beyond reach
};

struct Author {
  std::string name;
  Index M;      // 0 for none: then all of a window of T is read anew for each token
  Index reach;  // how many tokens back the one that predicts sees in one look
  std::vector<std::vector<Index>> stories{};
  std::vector<std::vector<Judged>> mentions{};  // of each story
  Index sentences = 0, well_formed = 0;
};

std::vector<Judged> judge(const StoryReading& reading, Index reach) {
  std::vector<bool> lost(story_facts, false);
  std::vector<Judged> judged;
  for (const StoryMention& mention : reading.mentions) {
    const auto fact = static_cast<std::size_t>(mention.fact);
    const bool beyond = mention.distance > reach;
    lost[fact] = lost[fact] || beyond;
    judged.push_back({mention, beyond ? chance : 1, lost[fact] ? chance : 1});
  }
  return judged;
}

// Every author gets the same openings and the same luck.
void write_stories(const Settings& s, const TransformerXL& model, Author& author) {
  Random drawing(static_cast<std::uint64_t>(s.model.seed) + 1);
  std::vector<std::vector<Index>> openings;
  std::vector<Random> random;
  for (Index b = 0; b < s.texts; ++b) {
    openings.push_back(story_opening(drawing));
    random.emplace_back(static_cast<std::uint64_t>(s.model.seed) + 2 + static_cast<std::uint64_t>(b));
  }
  GenerationOptions options;
  options.sampling.temperature = static_cast<Real>(s.temperature);
  options.length = s.length;
  options.memory_length = author.M;
  const auto written = author.M > 0 ? generate(model, openings, options, random)
                                    : generate_sliding(model, openings, s.length, options.sampling, random);
  for (std::size_t b = 0; b < openings.size(); ++b) {
    std::vector<Index> story = openings[b];
    story.insert(story.end(), written[b].begin(), written[b].end());
    const StoryReading reading = read_story(story);
    author.sentences += reading.sentences;
    author.well_formed += reading.well_formed;
    author.mentions.push_back(judge(reading, author.reach));
    author.stories.push_back(story);
  }
}

// The stories of three authors: the vanilla model, the one with memory, and that one with a shorter memory.
std::vector<Author> all_authors(const Settings& s) {
  const Index T = s.model.segment_length;
  std::vector<Author> authors = {{fmt::format("vanilla T = {}", T), 0, T - 1},
                                 {fmt::format("memory M = {}", s.memory_length), s.memory_length, s.memory_length},
                                 {fmt::format("cut to M = {}", s.cut_memory), s.cut_memory, s.cut_memory}};
  const TransformerXL vanilla = train_model(s, 0);
  write_stories(s, vanilla, authors[0]);
  if (interrupted()) return {authors[0]};
  const TransformerXL with_memory = train_model(s, s.memory_length);
  write_stories(s, with_memory, authors[1]);
  write_stories(s, with_memory, authors[2]);
  return authors;
}

struct Share {
  double x = 0, measured = 0, expected = 0;  // summed up
  Index count = 0;
};

using Point = std::function<Share(const Judged&)>;  // one mention: where on the axis, and what was measured there

// Mentions in bins along x, each at least `width` wide and so wide that it holds enough to say something; the last few
// are left out. The share that was measured, beside the share that was to be expected.
std::vector<Share> shares(const Author& author, double width, const Point& point) {
  constexpr Index enough = 20;
  std::vector<Share> all;
  for (const std::vector<Judged>& story : author.mentions) {
    for (const Judged& judged : story) all.push_back(point(judged));
  }
  std::sort(all.begin(), all.end(), [](const Share& a, const Share& b) { return a.x < b.x; });
  std::vector<Share> bins;
  Share sum;
  double end = width;
  for (const Share& one : all) {
    if (one.x >= end && sum.count >= enough) {
      bins.push_back(sum);
      sum = {};
    }
    while (one.x >= end) end += width;
    sum = {sum.x + one.x, sum.measured + one.measured, sum.expected + one.expected, sum.count + 1};
  }
  if (sum.count >= enough) bins.push_back(sum);
  for (Share& bin : bins) {
    const auto count = static_cast<double>(bin.count);
    bin = {bin.x / count, bin.measured / count, bin.expected / count, bin.count};
  }
  return bins;
}

Share by_distance(const Judged& j) {
  return {static_cast<double>(j.mention.distance), j.mention.repeats ? 1.0 : 0.0, j.repeats};
}
Share by_place(const Judged& j) {
  return {static_cast<double>(j.mention.place), j.mention.true_to_opening ? 1.0 : 0.0, j.true_to_opening};
}

// One picture and one table of all authors.
void draw(const Settings& s, const std::vector<Author>& authors, Chart chart, const std::string& file, Table table,
          double width, const Point& point) {
  chart.references.push_back({"chance", 100 * chance});
  for (const Author& author : authors) {
    Series measured = {author.name, {}, {}};
    Series expected = {author.name, {}, {}, Kind::theory};
    for (const Share& bin : shares(author, width, point)) {
      table.add_row({author.name, author.M, bin.x, bin.count, bin.measured, bin.expected});
      for (Series* series : {&measured, &expected}) series->x.push_back(bin.x);
      measured.y.push_back(100 * bin.measured);
      expected.y.push_back(100 * bin.expected);
    }
    chart.series.push_back(expected);
    chart.series.push_back(measured);
  }
  fmt::print("\n");
  print(chart);
  write_svg(s.out + "/" + file + ".svg", chart);
  write_csv(s.out + "/" + file + ".csv", table);
}

void draw_both(const Settings& s, const std::vector<Author>& authors) {
  constexpr double near = 8, far = 16;  // widths of the bins, in tokens
  Chart distance;
  distance.title = "What comes back right, by how far back it was said";
  distance.description =
      "Share of facts that repeat their last mention, by distance, in stories written with and "
      "without memory.";
  distance.x = {"distance to the last mention", "tokens"};
  distance.y = {"facts that repeat it", "%"};
  for (const Author& author : authors) {
    distance.references.push_back(
        {fmt::format("reach {}", author.reach), static_cast<double>(author.reach) + 0.5, true});
  }
  draw(s, authors, distance, "coherence", Table({"author", "memory_length", "distance", "mentions", "right", "theory"}),
       near, by_distance);
  Chart place;
  place.title = "What is still as the opening said it, by place in the story";
  place.description = "Share of facts that are those of the opening, by place in the story, with and without memory.";
  place.x = {"place in the story", "tokens"};
  place.y = {"facts as in the opening", "%"};
  draw(s, authors, place, "coherence_drift", Table({"author", "memory_length", "place", "mentions", "right", "theory"}),
       far, by_place);
}

// "99.7% of 831", or "-" where there was none.
std::string in_percent(Index part, Index all) {
  if (all == 0) return "-";
  return fmt::format("{:.1f}% of {}", 100 * static_cast<double>(part) / static_cast<double>(all), all);
}

// An author's mentions counted up.
struct Score {
  Index in_reach = 0, right_in_reach = 0, beyond = 0, right_beyond = 0;
  Index stories_without_contradiction = 0;
  double expected_without = 0;  // how many of them were to be expected, with their mentions where they are
};
Score score_of(const Author& author) {
  Score score;
  for (const std::vector<Judged>& story : author.mentions) {
    double expected = 1;
    bool contradicts = false;
    for (const Judged& j : story) {
      const bool seen = j.mention.distance <= author.reach, right = j.mention.repeats;
      ++(seen ? score.in_reach : score.beyond);
      (seen ? score.right_in_reach : score.right_beyond) += right ? 1 : 0;
      contradicts = contradicts || !right;
      expected *= j.repeats;
    }
    score.stories_without_contradiction += contradicts ? 0 : 1;
    score.expected_without += expected;
  }
  return score;
}

void print_numbers(const std::vector<Author>& authors) {
  fmt::print("\n{:23}{:18}{}\n", "", "sentences", "facts that repeat their last mention    stories without");
  fmt::print("{:16}{:7}{:18}{:20}{:20}{}\n", "", "reach", "well-formed", "within reach", "out of reach",
             "contradiction");
  fmt::print("{:23}{:18}{:20}{:.1f}%\n", "theory", "100.0%", "100.0%", 100 * chance);
  for (const Author& author : authors) {
    const Score score = score_of(author);
    fmt::print("{:16}{:>5}  {:18}{:20}{:20}{} of {} (theory {:.1f})\n", author.name, author.reach,
               in_percent(author.well_formed, author.sentences), in_percent(score.right_in_reach, score.in_reach),
               in_percent(score.right_beyond, score.beyond), score.stories_without_contradiction, author.stories.size(),
               score.expected_without);
  }
}

// The beginning of a story, in short lines; a fact that the opening contradicts stands in brackets.
void show_story(const Settings& s, const Author& author) {
  std::vector<bool> wrong(author.stories[0].size(), false);
  for (const Judged& j : author.mentions[0]) {
    wrong[static_cast<std::size_t>(j.mention.place)] = !j.mention.true_to_opening;
  }
  fmt::print("\n{}:\n", author.name);
  constexpr std::size_t widest = 96;
  std::size_t column = widest;
  for (std::size_t t = 0; t < std::min(author.stories[0].size(), static_cast<std::size_t>(s.shown)); ++t) {
    const std::string text = story_text({author.stories[0][t]});
    const std::string word = wrong[t] ? "[" + text + "]" : text;
    const bool fits = column + 1 + word.size() <= widest;
    fmt::print("{}{}", fits ? " " : t == 0 ? "  " : "\n  ", word);
    column = fits ? column + 1 + word.size() : 2 + word.size();
  }
  fmt::print("{}\n", s.shown < static_cast<Index>(author.stories[0].size()) ? " .." : "");
}

void write_all_stories(const Settings& s, const std::vector<Author>& authors) {
  std::string text;
  for (const Author& author : authors) {
    text += author.name + ":\n\n";
    for (const std::vector<Index>& story : author.stories) text += story_text(story) + "\n\n";
  }
  write_text_file(s.out + "/coherence_stories.txt", text);
}

void tell(const Settings& s) {
  const Config config = config_of(s, s.memory_length);  // what makes no sense is to be said before anything else
  if (s.cut_memory >= s.memory_length) {
    throw ArgumentError(
        fmt::format("cut_memory: expected less than memory_length = {}, got {}", s.memory_length, s.cut_memory));
  }
  make_folder(s.out);
  set_thread_count(static_cast<int>(s.model.threads));
  fmt::print(
      "Two models learn to write stories in segments of T = {}, with a memory of M = {} and with none. Both have\n"
      "{} weights, and both write {} stories of {} tokens behind the same openings.\n\n",
      s.model.segment_length, s.memory_length, parameter_count(config), s.texts, s.length);
  const std::vector<Author> authors = all_authors(s);
  fmt::print("How the first story goes on; [brackets] mark what contradicts the opening:\n");
  for (std::size_t n = 0; n < std::min<std::size_t>(authors.size(), 2); ++n) show_story(s, authors[n]);
  draw_both(s, authors);
  print_numbers(authors);
  write_all_stories(s, authors);
  fmt::print(
      "\nThe pictures are in {0}/coherence.svg and {0}/coherence_drift.svg, the numbers in {0}/coherence.csv and\n"
      "{0}/coherence_drift.csv, all stories in {0}/coherence_stories.txt.\n",
      s.out);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("coherence",
                      "Lets models write stories, with memory and without, and marks their contradictions.");
  arguments.add("memory_length", s.memory_length, "memory M of the model that has one, in tokens", 2, 4096);
  arguments.add("cut_memory", s.cut_memory, "a shorter memory that this model writes with as well", 1, 4096);
  arguments.add("texts", s.texts, "stories that each model writes", 1, 65536);
  arguments.add("length", s.length, "tokens to write behind each opening", 1, 65536);
  arguments.add("temperature", s.temperature, "1 draws as the model predicts, 0 takes the likeliest token", 0.0, 1e6);
  arguments.add("shown", s.shown, "tokens of the stories that are shown", 1, 65536);
  add_arguments(arguments, s.model);
  arguments.add("out", s.out, "folder for the pictures, numbers and stories");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
