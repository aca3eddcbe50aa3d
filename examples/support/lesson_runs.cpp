#include "examples/support/lesson_runs.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "examples/support/output.hpp"

namespace segue {

namespace fs = std::filesystem;

namespace {

fs::path printed_file(const LessonRun& run, const fs::path& out) { return out / (run.lesson.name + ".txt"); }
fs::path progress_file(const LessonRun& run, const fs::path& out) { return out / (run.lesson.name + "_progress.txt"); }

std::string last_line(const fs::path& path) {
  std::ifstream file(path);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

bool is_ended(const LessonRun& run) { return run.state != RunState::waiting && run.state != RunState::running; }

// Whether the one it needs has ended, or is not to run at all.
bool is_ready(const LessonRun& run, const std::vector<LessonRun>& runs) {
  return std::all_of(runs.begin(), runs.end(),
                     [&](const LessonRun& other) { return other.lesson.name != run.lesson.after || is_ended(other); });
}

void fail(LessonRun& run, const std::string& complaint) {
  run.state = RunState::failed;
  run.complaint = complaint;
}

// The lesson whose name is the longest that begins the name of the file: NAME.txt, NAME_more.txt.
std::string lesson_of(const std::string& file) {
  std::string longest;
  for (const Lesson& lesson : lesson_list) {
    const bool begins = file.starts_with(lesson.name + ".") || file.starts_with(lesson.name + "_");
    if (begins && lesson.name.size() > longest.size()) longest = lesson.name;
  }
  return longest;
}

}  // namespace

std::vector<LessonRun> runs_of(const std::vector<Lesson>& lessons, const fs::path& programs, const std::string& out) {
  std::vector<LessonRun> runs;
  for (const Lesson& lesson : lessons) {
    LessonRun run = {lesson};
    run.command = {(programs / lesson.name).string()};
    for (std::string word : lesson.arguments) {
      if (const std::size_t at = word.find("{out}"); at != std::string::npos) word.replace(at, 5, out);
      run.command.push_back(word);
    }
    runs.push_back(run);
  }
  return runs;
}

LessonRun* next_to_start(std::vector<LessonRun>& runs, Index jobs) {
  const auto is_running = [](const LessonRun& run) { return run.state == RunState::running; };
  const Index running = std::count_if(runs.begin(), runs.end(), is_running);
  const bool one_is_alone =
      std::any_of(runs.begin(), runs.end(), [&](const LessonRun& run) { return is_running(run) && run.lesson.alone; });
  if (running >= jobs || one_is_alone) return nullptr;
  const auto sooner = [](const Lesson& a, const Lesson& b) {
    return a.alone != b.alone ? b.alone : a.seconds > b.seconds;
  };
  LessonRun* best = nullptr;
  for (LessonRun& run : runs) {
    if (run.state != RunState::waiting || !is_ready(run, runs) || (run.lesson.alone && running > 0)) continue;
    if (best == nullptr || sooner(run.lesson, best->lesson)) best = &run;
  }
  return best;
}

void start(LessonRun& run, const fs::path& out) {
  try {
    write_text_file(printed_file(run, out), "");
    run.file_start = fs::last_write_time(printed_file(run, out));
    run.start = std::chrono::steady_clock::now();
    run.child = start_child(run.command, printed_file(run, out), progress_file(run, out));
    run.state = RunState::running;
  } catch (const std::exception& error) {
    fail(run, error.what());
  }
}

bool has_ended(LessonRun& run, const fs::path& out) {
  const std::optional<ChildEnd> end = end_of(run.child);
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - run.start).count();
  if (!end) return false;
  run.cpu_seconds = end->cpu_seconds;
  run.state = RunState::done;
  const std::string last = last_line(progress_file(run, out));
  if (end->status == 130 || end->signal == SIGINT) {  // the first is what run_lesson makes of the second
    run.state = RunState::interrupted;
  } else if (end->signal != 0) {
    fail(run, fmt::format("killed by signal {} ({}){}{}", end->signal, strsignal(end->signal),
                          last.empty() ? "" : " after: ", last));
  } else if (end->status != 0) {
    fail(run, last.empty() ? fmt::format("exit status {}", end->status) : last);
  }
  return true;
}

std::vector<LessonRun*> fail_followers(std::vector<LessonRun>& runs) {
  std::vector<LessonRun*> failed;
  for (LessonRun& run : runs) {
    const bool follows = std::any_of(runs.begin(), runs.end(), [&](const LessonRun& other) {
      return other.lesson.name == run.lesson.after && other.state == RunState::failed;
    });
    if (!follows || run.state != RunState::waiting) continue;
    fail(run, fmt::format("not run, since {} failed", run.lesson.after));
    failed.push_back(&run);
  }
  return failed;
}

std::vector<std::string> files_of(const LessonRun& run, const fs::path& out) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(out)) {
    const std::string file = entry.path().filename().string();
    const bool printed = entry.path() == printed_file(run, out) || entry.path() == progress_file(run, out);
    if (lesson_of(file) == run.lesson.name && !printed && entry.last_write_time() >= run.file_start)
      files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace segue
