// A dependency across thousands of tokens, after training across hundreds.
//
// A key, a long gap of noise, a query: which key was it? A vanilla Transformer and Transformer-XL learn this with short
// gaps and are then asked with longer ones. How far Transformer-XL knows the key is decided by the memory it is given
// when it is asked, and the scores of one token show why a gap never met before does not matter.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "examples/support/chart.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/progress.hpp"
#include "examples/support/training.hpp"
#include "xl/tasks/gap_recall.hpp"
#include "xl/tools/attention_map.hpp"
#include "xl/tools/memory_view.hpp"
#include "xl/tools/score_terms.hpp"

using namespace segue;

namespace {

struct Settings {
  ModelSettings model = {.segment_length = 32, .steps = 500, .batch = 16};
  Index memory_length = 256, trained_gap = 200, keys = 8, questions = 32;
  std::vector<Index> gaps = {20, 100, 200, 500, 1000, 2000, 5000};  // in rising order
  std::string out = "out";

  GapRecall task(Index shortest, Index longest) const {
    return {.keys = keys, .shortest = shortest, .longest = longest};
  }
  GapRecall task(Index gap) const { return task(gap, gap); }
};

// A model and the way it reads when it is asked: `batch` questions at a time, in segments of T with a memory of M.
struct Reader {
  std::string name;  // of the model
  const TransformerXL& model;
  Index M, T, batch;
  std::vector<double> right = {};  // the share at each gap measured so far

  std::string label() const { return fmt::format("{}, M = {}", name, M); }
};

// Behind a memory that covers the text the length of a segment changes nothing but the time.
constexpr Index wide_segment = 128;

Random random_of(const Settings& s, std::uint64_t use) {
  return Random(static_cast<std::uint64_t>(s.model.seed) + use);
}

TransformerXL train_model(const Settings& s, const std::string& name, Index M) {
  Random random = random_of(s, 0);
  const GapRecall task = s.task(0, s.trained_gap);
  TransformerXL model(make_config(s.model, task.vocabulary(), M), random);
  QuestionRows rows(gap_recall_questions(task), s.model.batch, s.model.segment_length, random);
  run_training("training " + name, model, s.model, [&] { return rows.next(); });
  return model;
}

// The share of s.questions that are answered right, the same ones for every reader; nothing when interrupted.
std::optional<double> ask(const Settings& s, const Reader& reader, const QuestionSource& draw,
                          const std::function<void(Index)>& report) {
  Random random = random_of(s, 1);
  double right = 0;
  for (Index done = 0; done < s.questions;) {
    if (interrupted()) return std::nullopt;
    const Index count = std::min(reader.batch, s.questions - done);
    right += static_cast<double>(count) *
             share_answered(reader.model, draw, count, reader.batch, reader.T, reader.M, random);
    done += count;
    report(done);
  }
  return right / static_cast<double>(s.questions);
}

void ask_all_gaps(const Settings& s, Reader& reader) {
  Index total = 0, before = 0;  // tokens to read
  for (const Index gap : s.gaps) total += s.questions * (gap + 2);
  Progress progress("asking " + reader.label(), total);
  for (const Index gap : s.gaps) {
    const auto report = [&](Index done) { progress.update(before + done * (gap + 2), fmt::format("gap {}", gap)); };
    const std::optional<double> share = ask(s, reader, gap_recall_questions(s.task(gap)), report);
    if (!share) return;
    reader.right.push_back(*share);
    before += s.questions * (gap + 2);
  }
}

// The best share that the reach of all layers allows. The query stands behind the key and the gap.
double best_share(const Settings& s, const Reader& reader, Index gap) {
  const Index i = (gap + 1) % reader.T;
  const Index reach = tokens_in_reach(reader.model.config, reader.T, reader.M, i).back() - 1;
  return gap_recall_best_accuracy(s.task(gap), reach);
}

// The longest gap, of those that are asked, up to which the answer can be known.
Index longest_in_reach(const Settings& s, const Reader& reader) {
  Index gap = 0;
  while (gap < s.gaps.back() && best_share(s, reader, gap + 1) == 1) ++gap;
  return gap;
}

// Between which shares the true one lies, 95 % sure, when `share` of n answers were right (Wilson 1927).
std::array<double, 2> wilson_interval(double share, Index n) {
  const double z = 1.96, N = static_cast<double>(n), middle = share + z * z / (2 * N);
  const double spread = z * std::sqrt(share * (1 - share) / N + z * z / (4 * N * N)), whole = 1 + z * z / N;
  return {std::max(0.0, (middle - spread) / whole), std::min(1.0, (middle + spread) / whole)};
}

void print_shares(const Settings& s, const std::vector<Reader>& readers) {
  const double chance = 1 / static_cast<double>(s.keys);
  fmt::print("Right answers to {} questions at each gap (and the best that the reach allows), in %:\n\n     gap",
             s.questions);
  for (const Reader& reader : readers) fmt::print("{:>26}", reader.label());
  fmt::print("\n");
  for (std::size_t g = 0; g < s.gaps.size(); ++g) {
    fmt::print("{:>8}", s.gaps[g]);
    for (const Reader& reader : readers) {
      const double best = 100 * best_share(s, reader, s.gaps[g]);
      const bool known = g < reader.right.size();  // unless interrupted
      fmt::print("{:>17} ({:5.1f})", known ? fmt::format("{:.1f}", 100 * reader.right[g]) : "-", best);
    }
    fmt::print("\n");
  }
  const auto all = wilson_interval(1, s.questions), guess = wilson_interval(chance, s.questions);
  fmt::print(
      "\nAll right means a true share above {:.0f} %, {:.1f} % right one of {:.0f} to {:.0f} % (each 95 % sure).\n\n",
      100 * all[0], 100 * chance, 100 * guess[0], 100 * guess[1]);
}

void draw_shares(const Settings& s, const std::vector<Reader>& readers) {
  Chart chart;
  chart.title = "A key recalled across a gap, trained up to " + std::to_string(s.trained_gap);
  chart.description = "Share of right answers against the gap between key and query, for models and memories.";
  chart.x = {"gap between key and query", "tokens", true};
  chart.y = {"right answers", "%"};
  chart.references = {{fmt::format("1 in {}", s.keys), 100 / static_cast<double>(s.keys)},
                      {fmt::format("trained to {}", s.trained_gap), static_cast<double>(s.trained_gap), true}};
  for (const Reader& reader : readers) {
    Series measured = {reader.label(), {}, {}}, theory = {reader.label(), {}, {}, Kind::theory};
    for (std::size_t g = 0; g < reader.right.size(); ++g) {
      for (Series* series : {&measured, &theory}) series->x.push_back(static_cast<double>(s.gaps[g]));
      measured.y.push_back(100 * reader.right[g]);
      theory.y.push_back(100 * best_share(s, reader, s.gaps[g]));
    }
    chart.series.push_back(theory);
    chart.series.push_back(measured);
    const Index reach = longest_in_reach(s, reader);
    if (reach < s.gaps.back())
      chart.references.push_back({fmt::format("M = {} sees {}", reader.M, reach), static_cast<double>(reach), true});
  }
  print(chart);
  write_svg(s.out + "/dependency_gap.svg", chart);
}

void write_shares(const Settings& s, const std::vector<Reader>& readers) {
  Table table({"model", "memory_length", "gap", "accuracy"});
  for (const Reader& reader : readers) {
    for (std::size_t g = 0; g < reader.right.size(); ++g) {
      table.add_row({reader.name, reader.M, s.gaps[g], reader.right[g]});
    }
  }
  write_csv(s.out + "/dependency_gap.csv", table);
}

// A copy that scores without (b) and (d), by content alone, or without (a) and (c), by position alone.
TransformerXL by_one(const TransformerXL& model, bool content) {
  TransformerXL changed = model.clone();
  for (Layer& layer : changed.layers) {
    Variable& off = content ? layer.attention.w_k_R : layer.attention.w_k_E;
    off = Variable(Tensor::zeros(off.shape()));
  }
  return changed;
}

// Questions with noise in front of the key too, as training never shows them.
QuestionSource behind_noise(const GapRecall& task, Index lead) {
  return [task, lead](Random& random) {
    const Question question = gap_recall_questions(task)(random);
    Question later = {{}, question.answer};
    for (Index n = 0; n < lead; ++n) later.tokens.push_back(task.keys + random.below(task.noise));
    later.tokens.insert(later.tokens.end(), question.tokens.begin(), question.tokens.end());
    return later;
  };
}

// What happens at one gap when something is taken away or put in front.
void change_and_ask(const Settings& s, const Reader& plain) {
  const Index gap = std::max(Index(2), s.gaps.back() / 5);
  const TransformerXL by_content = by_one(plain.model, true), by_position = by_one(plain.model, false);
  const Reader content = {"by content", by_content, gap + 1, plain.T, plain.batch};
  const Reader position = {"by position", by_position, gap + 1, plain.T, plain.batch};
  const Reader far = {"far", plain.model, 2 * gap + 1, plain.T, plain.batch};
  const QuestionSource draw = gap_recall_questions(s.task(gap));
  const auto quietly = [](Index) {};
  Table table({"change", "gap", "accuracy"});
  fmt::print("\nWhat the answer hangs on: Transformer-XL at gap {}, changed after the training:\n\n", gap);
  const auto row = [&](const std::string& change, const Reader& reader, const QuestionSource& questions) {
    const std::optional<double> share = ask(s, reader, questions, quietly);
    if (!share) return;
    fmt::print("  {:<52} {:>5.1f} %\n", change, 100 * *share);
    table.add_row({change, gap, *share});
  };
  row("scores by content alone: (a) + (c)", content, draw);
  row("scores by position alone: (b) + (d)", position, draw);
  row(fmt::format("{} tokens of noise before the key as well", gap), far, behind_noise(s.task(gap), gap));
  write_csv(s.out + "/dependency_gap_changes.csv", table);
}

// The scores by which a noise token of the lowest layer looks back from its own place, at the distances 0, 1, .. up to
// the key's.
struct Scores {
  Index head = 0, query = 0;
  double weight = 0;                      // on the key
  std::vector<double> content, position;  // (a) + (c), (b) + (d)
};

struct Range {
  double low, high;
};
// From distance 1 on: over the noise before the query.
Range range_of_noise(const std::vector<double>& scores) {
  const auto [low, high] = std::minmax_element(scores.begin() + 1, scores.end() - 1);
  return {*low, *high};
}

Tokens part_of(const Question& question, Index start, Index length) {
  const auto first = question.tokens.begin() + start;
  return Tokens({1, length}, std::vector<Index>(first, first + length));
}

// Of the last noise tokens of a question, as many as a segment has, the one that looks most at the key.
Scores scores_of_noise(const Settings& s, const TransformerXL& model, Index gap) {
  const NoGradientGuard no_gradient;
  Random random = random_of(s, 2);
  const Question question = gap_recall_questions(s.task(gap))(random);
  const Index T = std::min(s.model.segment_length, gap - 1), before = gap + 1 - T;
  Memory memory = empty_memory(model.config, 1, before);
  for (Index start = 0; start < before; start += wide_segment) {
    const Tokens tokens = part_of(question, start, std::min(wide_segment, before - start));
    memory = model(tokens, memory, Mode::evaluate()).memory;
  }
  const Tensor map = attention_maps(model, part_of(question, before, T), memory)[0];  // [1, H, T, K]
  const ScoreTerms terms = score_terms(model, part_of(question, before, T), memory)[0];
  Scores scores;
  for (Index head = 0; head < model.config.heads; ++head) {
    for (Index i = 0; i < T; ++i) {
      const double weight = static_cast<double>(map.at({0, head, i, 0}));
      if (weight > scores.weight) scores.weight = weight, scores.head = head, scores.query = i;
    }
  }
  for (Index j = before + scores.query; j >= 0; --j) {
    const auto at = [&](const Tensor& term) { return static_cast<double>(term.at({0, scores.head, scores.query, j})); };
    scores.content.push_back(at(terms.a) + at(terms.c));
    scores.position.push_back(at(terms.b) + at(terms.d));
  }
  return scores;
}

// By distance, each point the highest or lowest up to the next one, which is a tenth further.
void draw_scores(const Settings& s, const Scores& scores) {
  const Index key = static_cast<Index>(scores.content.size()) - 1;
  const Index trained = s.memory_length + s.model.segment_length - 1;  // the longest distance a query met
  Chart chart;
  chart.title = fmt::format("What one noise token looks for, {} tokens behind the key", key);
  chart.description = "Scores of one noise token against all before it: what content adds and what position adds.";
  chart.x = {"distance", "tokens", true};
  chart.y = {"score"};
  chart.references = {{"key, content", scores.content.back()},
                      {fmt::format("trained to {}", trained), static_cast<double>(trained), true}};
  Series content = {"content of noise, highest", {}, {}}, high = {"position, highest", {}, {}},
         low = {"position, lowest", {}, {}};
  for (Index d = 1; d < key;) {
    const Index next = std::min(key, std::max(d + 1, d + d / 10));
    for (Series* series : {&content, &high, &low}) series->x.push_back(static_cast<double>(d));
    content.y.push_back(*std::max_element(scores.content.begin() + d, scores.content.begin() + next));
    high.y.push_back(*std::max_element(scores.position.begin() + d, scores.position.begin() + next));
    low.y.push_back(*std::min_element(scores.position.begin() + d, scores.position.begin() + next));
    d = next;
  }
  chart.series = {content, high, low};
  fmt::print("\n");
  print(chart);
  write_svg(s.out + "/dependency_gap_scores.svg", chart);
  Table table({"distance", "token", "content", "position"});
  for (Index d = 0; d <= key; ++d) {
    const auto at = static_cast<std::size_t>(d);
    table.add_row({d, d == key ? "key" : "noise", scores.content[at], scores.position[at]});
  }
  write_csv(s.out + "/dependency_gap_scores.csv", table);
}

// Why a gap never met before does not matter: the parts of the scores by which the key is found.
void look_at_scores(const Settings& s, const TransformerXL& model) {
  Scores scores;
  fmt::print(
      "\nHow the key is found: of the last noise tokens the one that looks most at it in layer 1, with its\n"
      "weight on the key, and its scores:\n\n"
      "                           content (a) + (c)            position (b) + (d)\n"
      "     gap  head   weight       key   noise, at most         key   noise, from .. to\n");
  for (const Index gap : s.gaps) {
    if (interrupted()) return;
    scores = scores_of_noise(s, model, gap);
    const Range position = range_of_noise(scores.position);
    fmt::print("{:>8}  {:>4}   {:>6.3f}    {:>6.1f}   {:>14.1f}      {:>6.1f}   {:>8.1f} .. {:.1f}\n", gap,
               scores.head + 1, scores.weight, scores.content.back(), range_of_noise(scores.content).high,
               scores.position.back(), position.low, position.high);
  }
  draw_scores(s, scores);  // of the longest gap
}

void tell(const Settings& s) {
  prepare(s.model, s.task(0).vocabulary(), s.memory_length, s.out);
  const Index T = s.model.segment_length, cover = s.gaps.back() + 1;
  fmt::print(
      "A key out of {}, a gap of noise, a query: which key was it? Two models learn it in {} steps, with\n"
      "gaps of up to {} in segments of T = {}: one without memory, one with a memory of M = {}. Then both\n"
      "are asked with longer gaps, and the second also with a memory of {}, which covers them all.\n\n",
      s.keys, s.model.steps, s.trained_gap, T, s.memory_length, cover);
  const TransformerXL vanilla = train_model(s, "vanilla", 0);
  const TransformerXL xl = train_model(s, "Transformer-XL", s.memory_length);
  std::vector<Reader> readers = {{"vanilla", vanilla, 0, T, s.questions},
                                 {"Transformer-XL", xl, cover, wide_segment, 1},
                                 {"Transformer-XL", xl, s.memory_length, T, 16}};
  for (Reader& reader : readers) ask_all_gaps(s, reader);
  if (readers[0].right.empty()) return;  // interrupted before anything was measured
  print_shares(s, readers);
  draw_shares(s, readers);
  write_shares(s, readers);
  if (!interrupted()) change_and_ask(s, readers[1]);
  if (!interrupted()) look_at_scores(s, xl);
  if (interrupted()) {
    fmt::print("\nInterrupted. What was measured until then is in {0}/dependency_gap.svg and .csv.\n", s.out);
    return;
  }
  fmt::print(
      "\nThe pictures are in {0}/dependency_gap.svg and {0}/dependency_gap_scores.svg, the numbers are in\n"
      "{0}/dependency_gap.csv, {0}/dependency_gap_changes.csv and {0}/dependency_gap_scores.csv.\n",
      s.out);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("dependency_gap",
                      "Asks models for a key across gaps far longer than those they were trained with, and shows what "
                      "their answers hang on.");
  arguments.add("memory_length", s.memory_length, "memory M in training, and of one of the readings", 1, 65536);
  arguments.add("trained_gap", s.trained_gap, "longest gap in training, in tokens", 0, 65536);
  arguments.add("gaps", s.gaps, "gaps to ask across, in tokens", 2, 100000);
  arguments.add("keys", s.keys, "how many keys there are", 2, 65536);
  arguments.add("questions", s.questions, "questions to ask at each gap", 1, 65536);
  add_arguments(arguments, s.model);
  arguments.add("out", s.out, "folder for the pictures and the numbers");
  return run_lesson(arguments, argc, argv, [&] {
    std::sort(s.gaps.begin(), s.gaps.end());
    tell(s);
  });
}
