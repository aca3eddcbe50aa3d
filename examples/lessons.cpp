// All lessons in one go, and one page that shows what each of them found.
//
// Several run at a time, each on one thread, but those that measure time run by themselves. One that fails stops no
// other. The page is written anew whenever a lesson has ended.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/lesson_page.hpp"
#include "examples/support/lesson_runs.hpp"
#include "examples/support/output.hpp"
#include "examples/support/progress.hpp"
#include "examples/support/terminal.hpp"
#include "tensor/parallel.hpp"

using namespace segue;

namespace {

using Clock = std::chrono::steady_clock;

struct Settings {
  std::string only = "all", out = "out";
  Index jobs = thread_count();
};

// In the order of the list, whatever the order of the names.
std::vector<Lesson> chosen_lessons(const Settings& s) {
  std::vector<std::string> names;
  std::istringstream words(s.only);
  for (std::string name; std::getline(words, name, ',');) names.push_back(name);
  if (s.only == "all") return lesson_list;
  std::vector<Lesson> chosen;
  std::string known;
  for (const Lesson& lesson : lesson_list) {
    known += (known.empty() ? "" : ",") + lesson.name;
    if (std::find(names.begin(), names.end(), lesson.name) != names.end()) chosen.push_back(lesson);
  }
  for (const std::string& name : names) {
    const bool found = std::any_of(chosen.begin(), chosen.end(), [&](const Lesson& l) { return l.name == name; });
    if (!found) throw ArgumentError(fmt::format("only: there is no lesson \"{}\"; expected some of {}", name, known));
  }
  if (chosen.empty()) throw ArgumentError("only: expected at least one name, got none");
  return chosen;
}

// What is running, on a terminal; rewritten in place, below the lines of what has ended.
struct StatusLine {
  bool shown = false;

  void show(const std::vector<LessonRun>& runs, double seconds) {
    if (!is_terminal(stderr)) return;
    std::string running;
    double all = 0, past = 0;  // of the seconds that the list expects
    for (const LessonRun& run : runs) {
      const bool is_running = run.state == RunState::running;
      if (is_running)
        running += fmt::format("{} {} {}", running.empty() ? "" : ",", run.lesson.name, duration(run.seconds));
      all += run.lesson.seconds;
      past += run.state == RunState::waiting ? 0
              : is_running                   ? std::min(run.seconds, run.lesson.seconds)
                                             : run.lesson.seconds;
    }
    std::string line = "running" + running;
    if (past > 0.1 * all) line += fmt::format("; about {} left", duration(seconds * (all - past) / past));
    line.resize(std::min(line.size(), static_cast<std::size_t>(terminal_width(stderr) - 1)));
    fmt::print(stderr, "\r{}\x1b[K", line);
    std::fflush(stderr);
    shown = true;
  }

  void clear() {
    if (shown) fmt::print(stderr, "\r\x1b[K");
    std::fflush(stderr);
    shown = false;
  }
};

void print_end(const LessonRun& run) {
  fmt::print("  {:<22}", run.lesson.name);
  if (run.state == RunState::failed) {
    const bool color = wants_color(stdout);
    fmt::print("  {}failed: {}{}\n", color ? "\x1b[31m" : "", run.complaint, color ? "\x1b[0m" : "");
  } else {
    fmt::print("{:>12}{:>12}{}\n", short_duration(run.seconds), short_duration(run.cpu_seconds),
               run.state == RunState::interrupted ? "   interrupted" : "");
  }
  std::fflush(stdout);
}

// Runs all that can be run, until Ctrl-C. `settle` is called with each that has ended.
void run_all(const Settings& s, std::vector<LessonRun>& runs, StatusLine& status,
             const std::function<void(const LessonRun&)>& settle) {
  const Clock::time_point begin = Clock::now();
  for (Index running = 1, told = 0; running > 0;) {
    for (LessonRun* next; !interrupted() && (next = next_to_start(runs, s.jobs)) != nullptr;) {
      start(*next, s.out);
      if (next->state == RunState::failed) settle(*next);
    }
    const bool stop = interrupted() && told++ == 0;
    running = 0;
    for (LessonRun& run : runs) {
      if (run.state != RunState::running) continue;
      ++running;
      if (stop) interrupt(run.child);
      if (has_ended(run, s.out)) settle(run);
    }
    status.show(runs, std::chrono::duration<double>(Clock::now() - begin).count());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  status.clear();
}

void tell(const Settings& s, const std::filesystem::path& programs) {
  std::vector<LessonRun> runs = runs_of(chosen_lessons(s), programs, s.out);
  make_folder(s.out);
  const Clock::time_point begin = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const std::string page = s.out + "/index.html";
  const auto write_page = [&] { write_text_file(page, lesson_page(runs, seconds(), s.out)); };

  fmt::print("{} lesson{}, up to {} at a time. Their pictures, numbers and words go to {}.\n\n{:<24}{:>12}{:>12}\n",
             runs.size(), runs.size() == 1 ? "" : "s", s.jobs, s.out, "", "took", "processor");
  std::fflush(stdout);
  StatusLine status;
  write_page();
  run_all(s, runs, status, [&](const LessonRun& run) {
    status.clear();
    print_end(run);
    for (const LessonRun* follower : fail_followers(runs)) print_end(*follower);
    write_page();
  });
  write_page();
  fmt::print("\n  {:<22}{:>12}\n\nThe page is {}.\n", "all together", short_duration(seconds()), page);
  const std::vector<std::string> failed = names_of_failed(runs);
  if (!failed.empty() && !interrupted()) throw std::runtime_error(fmt::format("failed: {}", fmt::join(failed, ", ")));
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("lessons", "Runs all lessons and makes one page of what they found.");
  arguments.add("only", s.only, "all, or names with commas between; the page holds no others");
  arguments.add("jobs", s.jobs, "lessons that run at a time, where they measure no time", 1, 256);
  arguments.add("out", s.out, "folder for the page, index.html, and all that the lessons write");
  // The lessons lie where this program lies, or, when it was called without a folder, where the shell found it.
  const std::filesystem::path programs = argc > 0 ? std::filesystem::path(argv[0]).parent_path() : "";
  return run_lesson(arguments, argc, argv, [&] { tell(s, programs); });
}
