// A dialogue whose history is nothing but the memory.
//
// You tell facts, ask for them many turns later, and talk of other things in between. Two models learn to reply, equal
// but for their memory. Each turn is read once; what was said before is in the memory, or nowhere.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <vector>

#include "examples/support/bytes.hpp"
#include "examples/support/chart.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/terminal.hpp"
#include "examples/support/training.hpp"
#include "xl/tasks/toy_world.hpp"
#include "xl/tools/checkpoint.hpp"
#include "xl/tools/dialogue.hpp"

using namespace segue;

namespace {

struct Settings {
  ModelSettings model = {.steps = 1500, .learning_rate = 0.004};
  Index memory_length = 96, rows = 64, exchanges = 16, turn_limit = 1000;
  double temperature = 0;
  std::string checkpoint = "", script = "", out = "out";
  bool talk = false;
};

constexpr Index segments_per_dialogue = 16;

TransformerXL train_model(const Settings& s, Index M) {
  Random random(static_cast<std::uint64_t>(s.model.seed));
  TransformerXL model(make_config(s.model, static_cast<Index>(toy_words().size()), M), random);
  ToyWorld world(s.memory_length, s.model.batch, s.model.segment_length, segments_per_dialogue, random);
  run_training(fmt::format("training with M = {}", M), model, s.model, [&] { return world.next(); });
  return model;
}

struct Score {
  double distances = 0;  // summed up
  Index right = 0, count = 0;
  void add(const Recall& question) {
    distances += static_cast<double>(question.distance);
    right += question.right ? 1 : 0;
    ++count;
  }
  double rate() const { return static_cast<double>(right) / static_cast<double>(count); }
};

// How many questions in held-out dialogues are answered right, by the distance to where the answer was said, beside
// what one look back allows: distance d is within reach from a share (M + T - d) / T of the positions of a segment.
void measure(const Settings& s, const TransformerXL& model, Chart& chart, Table& table) {
  const Index T = s.model.segment_length, M = model.config.memory_length;
  Random random(static_cast<std::uint64_t>(s.model.seed) + 1);
  ToyWorld world(s.memory_length + 3 * T, s.rows, T, 2 * segments_per_dialogue, random);
  Score within, beyond;
  std::vector<Score> by_segment(static_cast<std::size_t>(s.memory_length / T + 5));
  for (const Recall& question : recall(model, world, 2 * segments_per_dialogue, M)) {
    if (question.distance <= M) within.add(question);
    if (question.distance >= M + T) beyond.add(question);
    by_segment[static_cast<std::size_t>(question.distance / T)].add(question);
  }
  Series measured = {fmt::format("M = {}{}", M, M == 0 ? " (vanilla)" : ""), {}, {}};
  Series theory = {measured.name, {}, {}, Kind::theory};
  for (const Score& score : by_segment) {
    if (score.count < 10) continue;  // too few to say anything
    const double distance = score.distances / static_cast<double>(score.count);
    const double seen = std::clamp((static_cast<double>(M + T) - distance) / static_cast<double>(T), 0.0, 1.0);
    const double best = seen + (1 - seen) / static_cast<double>(toy_values);
    for (Series* series : {&measured, &theory}) series->x.push_back(distance);
    measured.y.push_back(100 * score.rate());
    theory.y.push_back(100 * best);
    table.add_row({M, distance, score.count, score.rate(), best});
  }
  chart.series.push_back(theory);
  chart.series.push_back(measured);
  fmt::print("  M = {:<3}", M);
  if (within.count > 0) fmt::print(" within reach: {:5.1f}% of {} right (100.0)", 100 * within.rate(), within.count);
  if (beyond.count > 0) {
    fmt::print("   out of reach: {:5.1f}% of {} right (chance {:.1f})", 100 * beyond.rate(), beyond.count,
               100 / static_cast<double>(toy_values));
  }
  fmt::print("\n");
}

// Trains without memory and with it, and compares. The model with memory.
TransformerXL compare(const Settings& s) {
  const TransformerXL vanilla = train_model(s, 0);
  TransformerXL model = train_model(s, s.memory_length);
  save_model(s.out + "/dialogue.safetensors", model);
  Chart chart;
  chart.title = "What was said, and when it can still be told";
  chart.description =
      "Share of right answers against the distance to what must be remembered, with memory and without.";
  chart.x = {"distance to where the answer was said", "tokens"};
  chart.y = {"right answers", "%"};
  chart.references = {{"chance", 100 / static_cast<double>(toy_values)}};
  Table table({"memory_length", "distance", "questions", "right", "theory"});
  fmt::print("Questions in fresh dialogues, segments of T = {} tokens:\n", s.model.segment_length);
  measure(s, vanilla, chart, table);
  measure(s, model, chart, table);
  fmt::print("\n");
  print(chart);
  write_csv(s.out + "/dialogue.csv", table);
  write_svg(s.out + "/dialogue.svg", chart);
  fmt::print(
      "\nThe picture is in {0}/dialogue.svg, the numbers are in {0}/dialogue.csv, the model is in "
      "{0}/dialogue.safetensors.\n",
      s.out);
  return model;
}

// One line of yours and the reply, or one sentence that says what is wrong with the line.
void say(Dialogue& dialogue, const Settings& s, const std::string& line) {
  if (dialogue.turns() == s.turn_limit) {
    fmt::print("(after {} turns everything is forgotten, and a new dialogue begins)\n", s.turn_limit);
    dialogue.forget();
  }
  try {
    fmt::print("me:  {}\n", toy_text(dialogue.say(toy_tokens(line))));
  } catch (const ValueError& error) {
    const std::string message = error.what();
    fmt::print("     ({})\n", message.substr(0, message.find(" (at ")));
  }
}

// A dialogue that the toy world makes up, with the model's replies, which it knows to be right or wrong.
void show_sample(const Settings& s, Dialogue& dialogue) {
  Random random(static_cast<std::uint64_t>(s.model.seed) + 8);
  ToyTalk talk(s.memory_length);
  Index questions = 0, right = 0, read = 0;  // read: were the whole history read again for each reply
  fmt::print("\nA fresh dialogue, read turn by turn:\n\n");
  for (Index n = 0; n < std::min(s.exchanges, s.turn_limit) && !interrupted(); ++n) {
    const Exchange exchange = talk.next(random);
    const std::vector<Index> reply = dialogue.say(exchange.said);
    fmt::print("you: {}\nme:  {}", toy_text(exchange.said), toy_text(reply));
    if (exchange.answer >= 0) {
      ++questions;
      right += reply == exchange.reply ? 1 : 0;
      fmt::print("   ({}, last mentioned {} tokens ago)", reply == exchange.reply ? "right" : "wrong",
                 exchange.distance);
    }
    fmt::print("\n");
    read += dialogue.tokens_read();
  }
  fmt::print(
      "\n{} of {} questions answered. {} tokens were read, each once; without a memory, reading the whole\n"
      "history again for each reply would have taken {}.\n",
      right, questions, dialogue.tokens_read(), read);
}

void read_script(const Settings& s, Dialogue& dialogue, const std::vector<Index>& script) {
  std::istringstream lines(std::string(script.begin(), script.end()));
  fmt::print("\n");
  for (std::string line; !interrupted() && std::getline(lines, line);) {
    fmt::print("you: {}\n", line);
    say(dialogue, s, line);
  }
}

// Until the end of the input (Ctrl-D) or Ctrl-C, which must end the wait for a line.
void talk(const Settings& s, Dialogue& dialogue) {
  struct sigaction action = {};
  sigaction(SIGINT, nullptr, &action);
  action.sa_flags &= ~SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  const bool terminal = is_terminal(stdin);
  fmt::print("\nSay something, such as \"my name is Ann\", \"hello\" or \"what is my name?\". Ctrl-D ends.\n");
  for (std::string line; !interrupted();) {
    if (terminal) fmt::print("you: ");
    if (std::fflush(stdout) != 0 || !std::getline(std::cin, line)) break;
    if (!terminal) fmt::print("you: {}\n", line);
    say(dialogue, s, line);
  }
  fmt::print("\n");
}

void tell(const Settings& s) {
  prepare(s.model, static_cast<Index>(toy_words().size()), s.memory_length, s.out);
  const std::vector<Index> script = s.script.empty() ? std::vector<Index>{} : read_bytes(s.script);
  const TransformerXL model = s.checkpoint.empty() ? compare(s) : load_model(s.checkpoint);
  if (model.config.vocabulary != static_cast<Index>(toy_words().size())) {
    throw FileError(s.checkpoint + " holds no model of the toy world");
  }
  DialogueOptions options;
  options.marks = toy_marks();
  options.sampling.temperature = static_cast<Real>(s.temperature);
  options.turn_limit = s.turn_limit;
  Dialogue dialogue(model, options, static_cast<std::uint64_t>(s.model.seed));
  if (s.script.empty() && !s.talk && s.exchanges > 0) show_sample(s, dialogue);
  if (!s.script.empty()) read_script(s, dialogue, script);
  if (s.talk) talk(s, dialogue);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("dialogue", "Trains models to talk, with memory and without, and shows which of them remembers.");
  arguments.add("memory_length", s.memory_length, "memory M in tokens, and how far back is asked for", 16, 4096);
  arguments.add("rows", s.rows, "fresh dialogues to measure on", 1, 65536);
  arguments.add("exchanges", s.exchanges, "turns of the dialogue that is shown", 0, 1000000);
  arguments.add("temperature", s.temperature, "0 takes the likeliest word of a reply, above 0 draws", 0.0, 1e6);
  arguments.add("turn_limit", s.turn_limit, "turns after which a dialogue begins anew", 1);
  arguments.add("checkpoint", s.checkpoint, "a model that this lesson saved, to talk with; empty trains");
  arguments.add("script", s.script, "file with your turns, one a line");
  arguments.add("talk", s.talk, "talk with the model on the terminal");
  add_arguments(arguments, s.model);
  arguments.add("out", s.out, "folder for the model, picture and numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
