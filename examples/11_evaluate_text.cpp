// How well does a checkpoint predict a text, and what is a longer memory worth?
//
// The text is read in segments with memories of several lengths, whatever the training had. Beside that a window slides
// over the beginning of the text, one token at a time, and predicts every token from a fresh pass: what a model without
// memory must do to give each token a long context, and what it costs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <vector>

#include "examples/support/bytes.hpp"
#include "examples/support/chart.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/progress.hpp"
#include "examples/support/training.hpp"
#include "xl/tools/checkpoint.hpp"
#include "xl/tools/corpora.hpp"
#include "xl/tools/evaluation.hpp"
#include "xl/tools/vocabulary.hpp"

using namespace segue;

namespace {

struct Settings {
  std::string checkpoint = "out/train_text.safetensors", text = "", split = "test", method = "both";
  Index segment_length = 0, sliding_bytes = 1000, batch = 1, threads = thread_count();
  std::vector<Index> memory_lengths = {0, 16, 32, 64, 128, 256};
  std::string out = "out";
};

// The part of the text that is asked for, and what to call it.
struct Part {
  std::string name, bytes;
};

Part read_part(const Settings& s) {
  std::string name = "the book", training, validation, test;
  if (s.text.empty()) {
    const Text book = read_text("");
    training = to_text(book.training), test = to_text(book.held_out);
  } else {
    const Corpus corpus = recognise_corpus(s.text);
    const bool all = s.split == "all";
    name = corpus.name == "text" ? s.text : corpus.name;
    if (all || s.split == "train") training = read_stretch(corpus.training);
    if (all || s.split == "valid") validation = read_stretch(corpus.validation);
    if (all || s.split == "test") test = read_stretch(corpus.test);
  }
  if (s.split == "all") return {name, training + validation + test};
  const Part part = {name + ", " + s.split, s.split == "train" ? training : s.split == "valid" ? validation : test};
  if (part.bytes.empty()) throw ArgumentError(fmt::format("split: {} has no part \"{}\"", name, s.split));
  return part;
}

// The words of the model; none for a model of bytes.
std::optional<Vocabulary> read_words(const Settings& s, const Config& config) {
  std::optional<Vocabulary> words = load_words(s.checkpoint);
  if (words || config.vocabulary == 256) return words;
  throw FileError(fmt::format("{} holds no model of bytes, and there is no {}", s.checkpoint,
                              vocabulary_beside(s.checkpoint).string()));
}

// A text in tokens, and how many bytes and characters they spell without the first, which is given.
struct Tokenized {
  std::vector<Index> tokens;
  Index bytes, characters;
};

// Where the first word of a text ends, or the line break that is one.
std::size_t end_of_first_word(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\v\f\r");
  if (begin == std::string::npos) return text.size();
  return text[begin] == '\n' ? begin + 1 : std::min(text.find_first_of(" \t\n\v\f\r", begin), text.size());
}

Tokenized tokenize(const std::string& text, const std::optional<Vocabulary>& words) {
  const std::string rest = text.substr(words ? end_of_first_word(text) : std::min<std::size_t>(1, text.size()));
  return {words ? encode(*words, text) : to_bytes(text), static_cast<Index>(rest.size()), count_characters(rest)};
}

// One evaluation, and how long it took.
struct Measured {
  Index M;
  Evaluation evaluation;
  double bits_per_byte, bits_per_character, seconds;
};

struct Results {
  std::vector<Measured> whole;              // by segments, over all of the text
  std::vector<Measured> segments, sliding;  // over the same piece of it
};

// Evaluates and shows how far it is. The progress counts the tokens that go through the model.
struct Evaluator {
  const Settings& s;
  const TransformerXL& model;
  Index T;
  Progress progress;
  Table& table;
  Index work_done = 0;

  // Appends to `results`, unless interrupted.
  void run(const std::string& method, Index M, const Tokenized& text, std::vector<Measured>& results) {
    const bool slides = method == "sliding";
    const Index work = slides ? M + T : 1;
    const auto report = [&](Index done, Index) {
      progress.update(work_done + work * done, fmt::format("{}, M = {}", method, M));
      return !interrupted();
    };
    if (interrupted()) return;
    const auto start = std::chrono::steady_clock::now();
    const Evaluation e = slides ? evaluate_sliding(model, text.tokens, M + T, 32, report)
                                : evaluate(model, text.tokens, T, M, s.batch, report);
    if (interrupted()) return;
    work_done += work * e.count;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    results.push_back({M, e, e.bits_per(text.bytes), e.bits_per(text.characters), seconds});
    table.add_row({method, M, slides ? M + T : T, e.count, e.nats, e.perplexity(), e.bits_per(text.bytes),
                   e.bits_per(text.characters), seconds});
  }
};

void print_segments(const std::vector<Measured>& whole, Index T) {
  fmt::print("\nThe whole text by segments of T = {}, with a memory of M:\n", T);
  fmt::print("{:>8}{:>14}{:>17}{:>22}\n", "M", "perplexity", "bits per byte", "bits per character");
  for (const Measured& m : whole) {
    fmt::print("{:>8}{:>14.3f}{:>17.3f}{:>22.3f}\n", m.M, m.evaluation.perplexity(), m.bits_per_byte,
               m.bits_per_character);
  }
}

void print_comparison(const Results& results, Index T, std::size_t bytes) {
  fmt::print(
      "\nIts first {} bytes, by segments and by a window of M + T that slides one token a pass. Bits per byte:\n",
      bytes);
  fmt::print("{:>8}{:>10}{:>14}{:>13}{:>18}\n", "M", "window", "segments", "sliding", "times as slow");
  for (std::size_t k = 0; k < results.sliding.size(); ++k) {
    const Measured &a = results.segments[k], &b = results.sliding[k];
    fmt::print("{:>8}{:>10}{:>14.3f}{:>13.3f}{:>18.0f}\n", a.M, a.M + T, a.bits_per_byte, b.bits_per_byte,
               b.seconds / a.seconds);
  }
}

Series series_of(const std::string& name, const std::vector<Measured>& results) {
  Series series = {name, {}, {}};
  for (const Measured& m : results) {
    series.x.push_back(static_cast<double>(m.M));
    series.y.push_back(m.bits_per_byte);
  }
  return series;
}

// Over the piece where a window slid over it, else over the whole text.
Chart draw(const Results& results, Index trained_M) {
  Chart chart;
  chart.title = "What a longer memory is worth";
  chart.description = "Bits per byte against the length of the memory, by segments and by a sliding window.";
  chart.x = {"memory M", "tokens"};
  chart.y = {"bits per byte"};
  chart.references = {{fmt::format("training: M = {}", trained_M), static_cast<double>(trained_M), true}};
  const bool slid = !results.sliding.empty();
  chart.series = {series_of("by segments, memory M", slid ? results.segments : results.whole)};
  if (slid) chart.series.push_back(series_of("sliding window of M + T", results.sliding));
  return chart;
}

Index total_work(const Settings& s, Index T, const Tokenized& text, const Tokenized& piece) {
  const Index whole = static_cast<Index>(text.tokens.size()) - 1, part = static_cast<Index>(piece.tokens.size()) - 1;
  Index work = 0;
  for (const Index M : s.memory_lengths) {
    if (s.method != "sliding") work += whole;
    if (s.method != "segments") work += part * (1 + M + T);
  }
  return work;
}

Results evaluate_all(const Settings& s, const TransformerXL& model, Index T, const Tokenized& text,
                     const Tokenized& piece, Table& table) {
  Results results;
  Evaluator evaluator = {s, model, T, Progress("evaluating", total_work(s, T, text, piece)), table};
  for (const Index M : s.memory_lengths) {
    if (s.method != "sliding") evaluator.run("segments", M, text, results.whole);
  }
  for (const Index M : s.memory_lengths) {
    if (s.method == "segments") continue;
    evaluator.run("segments", M, piece, results.segments);
    evaluator.run("sliding", M, piece, results.sliding);
  }
  return results;
}

void describe(const Settings& s, TransformerXL& model, const Part& part, const Tokenized& text,
              const std::optional<Vocabulary>& words) {
  fmt::print("{}: {} weights, {} layers, trained with T = {} and M = {}.\n", s.checkpoint,
             parameter_count(parameters(model)), model.config.layers, model.config.segment_length,
             model.config.memory_length);
  fmt::print("{}: {} bytes, {} characters", part.name, part.bytes.size(), count_characters(part.bytes));
  if (words) {
    const auto unknown = std::count(text.tokens.begin(), text.tokens.end(), 0);
    fmt::print(
        ", {} words, {:.1f} % of them not among the {} the model knows.\nFor those it need not know a letter, so "
        "its bits per byte are too low by what spelling them would take",
        text.tokens.size(), 100.0 * static_cast<double>(unknown) / static_cast<double>(text.tokens.size()),
        words->size());
  }
  fmt::print(".\n");
}

void tell(const Settings& s) {
  check_choice("split", s.split, {"train", "valid", "test", "all"});
  check_choice("method", s.method, {"both", "segments", "sliding"});
  make_folder(s.out);
  set_thread_count(static_cast<int>(s.threads));
  TransformerXL model = load_model(s.checkpoint);
  const Config& c = model.config;
  const std::optional<Vocabulary> words = read_words(s, c);
  const Part part = read_part(s);
  const Tokenized text = tokenize(part.bytes, words);
  const std::string beginning = part.bytes.substr(0, static_cast<std::size_t>(s.sliding_bytes));
  const Tokenized piece = tokenize(beginning, words);
  if (text.tokens.size() < 2) {
    throw FileError(
        fmt::format("{} has too little text: nothing behind its first {}", part.name, words ? "word" : "byte"));
  }
  if (s.method != "segments" && piece.tokens.size() < 2) {
    throw ArgumentError(
        fmt::format("sliding_bytes: expected enough for two words of {}, got {}", part.name, s.sliding_bytes));
  }
  describe(s, model, part, text, words);

  const Index T = s.segment_length > 0 ? s.segment_length : c.segment_length;
  Table table({"method", "memory_length", "length", "tokens", "nats", "perplexity", "bits_per_byte",
               "bits_per_character", "seconds"});
  const Results results = evaluate_all(s, model, T, text, piece, table);
  if (table.rows.empty()) return;  // interrupted before anything was measured
  if (!results.whole.empty()) print_segments(results.whole, T);
  if (!results.sliding.empty()) print_comparison(results, T, beginning.size());
  const Chart chart = draw(results, c.memory_length);
  fmt::print("\n");
  write_csv(s.out + "/evaluate_text.csv", table);
  if (chart.series[0].x.size() > 1) {
    print(chart);
    write_svg(s.out + "/evaluate_text.svg", chart);
    fmt::print("\nThe picture is in {}/evaluate_text.svg. ", s.out);
  }
  fmt::print("The numbers are in {}/evaluate_text.csv.\n", s.out);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("evaluate_text",
                      "Measures how well a checkpoint predicts a text: perplexity, bits per byte and per character.");
  arguments.add("checkpoint", s.checkpoint, "the model's file; a vocabulary beside it makes it a model of words");
  arguments.add("text", s.text, "enwik8, text8, a file of WikiText, or any other; empty for the project's own book");
  arguments.add("split", s.split, "train, valid, test or all; of a text that nobody has split, test is the last tenth");
  arguments.add("method", s.method, "segments, sliding, or both");
  arguments.add("segment_length", s.segment_length, "segment length T in tokens; 0 is that of the training", 0, 65536);
  arguments.add("memory_lengths", s.memory_lengths, "memories M in tokens, whatever the training had", 0, 65536);
  arguments.add("sliding_bytes", s.sliding_bytes, "how much of the text the window slides over", 2);
  arguments.add("batch", s.batch,
                "rows into which the text is cut for segments; all but the first begin without context", 1, 4096);
  arguments.add("threads", s.threads, "threads", 1, 256);
  arguments.add("out", s.out, "folder for the picture and the numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
