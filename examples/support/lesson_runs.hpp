// Lessons that run side by side: which may start, and what each left behind.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "examples/support/child.hpp"
#include "examples/support/lesson_list.hpp"
#include "tensor/real.hpp"

namespace segue {

enum class RunState { waiting, running, done, failed, interrupted };

/// One run of one lesson.
struct LessonRun {
  Lesson lesson;
  std::vector<std::string> command = {};  // the program and its arguments
  RunState state = RunState::waiting;
  std::string complaint = "";  // what went wrong
  double seconds = 0, cpu_seconds = 0;
  Child child = 0;  // while it runs
  std::chrono::steady_clock::time_point start = {};
  std::filesystem::file_time_type file_start = {};  // the same by the clock of the folder
};

/// Runs of these lessons, with the programs in one folder and the files to come in another.
std::vector<LessonRun> runs_of(const std::vector<Lesson>& lessons, const std::filesystem::path& programs,
                               const std::string& out);

/// The run for which there is room now, or none: at most `jobs` run at a time, none before the one it needs, none
/// beside one that must be alone. Those that take long come first, and those that must be alone come last.
LessonRun* next_to_start(std::vector<LessonRun>& runs, Index jobs);

/// Starts it. What it prints goes to NAME.txt in the folder, its progress to NAME_progress.txt. A run that cannot start
/// has failed.
void start(LessonRun& run, const std::filesystem::path& out);

/// Whether a running one has come to its end by now; if so, sets its state and what is known of it.
bool has_ended(LessonRun& run, const std::filesystem::path& out);

/// Those that wait for one that failed have failed, too. Gives those that are new to it.
std::vector<LessonRun*> fail_followers(std::vector<LessonRun>& runs);

/// The names of the files that the run left in the folder, NAME.svg before NAME_more.svg; not those that an earlier run
/// left, nor what it printed.
std::vector<std::string> files_of(const LessonRun& run, const std::filesystem::path& out);

}  // namespace segue
