#include "examples/support/lesson_runs.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "tests/support/folder.hpp"

namespace segue::examples_lesson_runs_test {

namespace fs = std::filesystem;

namespace {

LessonRun run_named(const std::string& name, double seconds, const std::string& after = "", bool alone = false) {
  return {{name, "", "", seconds, {}, alone, after}};
}

std::string next_name(std::vector<LessonRun>& runs, Index jobs) {
  const LessonRun* next = next_to_start(runs, jobs);
  return next == nullptr ? "" : next->lesson.name;
}

// A lesson that a shell plays.
LessonRun played(const std::string& name, const std::string& script, const fs::path& out) {
  LessonRun run = run_named(name, 1);
  run.command = {"sh", "-c", script};
  start(run, out);
  while (run.state == RunState::running && !has_ended(run, out)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return run;
}

}  // namespace

TEST_CASE("the longest lesson starts first, and no more than there are jobs") {
  std::vector<LessonRun> runs = {run_named("a", 1), run_named("b", 3), run_named("c", 2)};
  CHECK(next_name(runs, 2) == "b");
  runs[1].state = RunState::running;
  CHECK(next_name(runs, 2) == "c");
  runs[2].state = RunState::running;
  CHECK(next_name(runs, 2) == "");
  runs[1].state = RunState::done;
  CHECK(next_name(runs, 2) == "a");
  CHECK(next_name(runs, 1) == "");
}

TEST_CASE("a lesson waits for the one it needs, unless that one is not to run") {
  std::vector<LessonRun> runs = {run_named("reader", 9, "writer"), run_named("writer", 1),
                                 run_named("orphan", 5, "none")};
  CHECK(next_name(runs, 9) == "orphan");
  runs[2].state = RunState::running;
  CHECK(next_name(runs, 9) == "writer");
  runs[1].state = RunState::running;
  CHECK(next_name(runs, 9) == "");
  runs[1].state = RunState::done;
  CHECK(next_name(runs, 9) == "reader");
}

TEST_CASE("a lesson that measures time has the machine for itself, after all others") {
  std::vector<LessonRun> runs = {run_named("clock", 9, "", true), run_named("a", 1), run_named("b", 2, "clock")};
  CHECK(next_name(runs, 9) == "a");
  runs[1].state = RunState::running;
  CHECK(next_name(runs, 9) == "");
  runs[1].state = RunState::done;
  CHECK(next_name(runs, 9) == "clock");
  runs[0].state = RunState::running;
  CHECK(next_name(runs, 9) == "");
  runs[0].state = RunState::failed;
  CHECK(next_name(runs, 9) == "b");
}

TEST_CASE("whoever needs a lesson that failed has failed, and who needs that one, too") {
  std::vector<LessonRun> runs = {run_named("a", 1), run_named("b", 1, "a"), run_named("c", 1, "b"), run_named("d", 1)};
  CHECK(fail_followers(runs).empty());
  runs[0].state = RunState::failed;
  CHECK(fail_followers(runs).size() == 2);
  CHECK(runs[1].complaint == "not run, since a failed");
  CHECK(runs[2].complaint == "not run, since b failed");
  CHECK(runs[3].state == RunState::waiting);
  CHECK(fail_followers(runs).empty());
}

TEST_CASE("the folder of the files stands in the arguments as it is") {
  const std::vector<LessonRun> runs = runs_of(
      {{"a", "", "", 1, {"threads=1", "checkpoint={out}/a.model", "out={out}"}}}, "build/bin", "my {out} files");
  CHECK(runs[0].command == std::vector<std::string>{"build/bin/a", "threads=1", "checkpoint=my {out} files/a.model",
                                                    "out=my {out} files"});
  CHECK(runs_of({{"a", "", "", 1, {}}}, "", "out")[0].command == std::vector<std::string>{"a"});
}

TEST_CASE("a lesson that fails says so in its last words") {
  const Folder folder;
  CHECK(played("good", "echo text", folder.path).state == RunState::done);
  CHECK(content(folder.path / "good.txt") == "text\n");
  const LessonRun bad = played("bad", "echo text; echo first >&2; echo 'bad: no file' >&2; exit 1", folder.path);
  CHECK(bad.state == RunState::failed);
  CHECK(bad.complaint == "bad: no file");
  CHECK(played("silent", "exit 7", folder.path).complaint == "exit status 7");
  CHECK(played("killed", "echo half >&2; kill -9 $$", folder.path).complaint ==
        "killed by signal 9 (Killed) after: half");
  CHECK(played("stopped", "exit 130", folder.path).state == RunState::interrupted);
  CHECK(played("stopped", "kill -INT $$", folder.path).state == RunState::interrupted);

  LessonRun missing = run_named("missing", 1);
  missing.command = {(folder.path / "missing").string()};
  start(missing, folder.path);
  CHECK(missing.state == RunState::failed);
  CHECK(missing.complaint.find("cannot run") != std::string::npos);
}

TEST_CASE("the files of a run are those that it wrote, under its own name") {
  const Folder folder;
  const std::string here = folder.path.string();
  std::ofstream(folder.path / "train_text_old.svg") << "from an earlier run";
  fs::last_write_time(folder.path / "train_text_old.svg", fs::file_time_type::clock::now() - std::chrono::hours(1));
  const LessonRun run = played("train_text",
                               "cd '" + here +
                                   "'; for f in train_text_more.svg train_text.svg train_text.csv other.csv "
                                   "train_texts.csv; do echo > $f; done",
                               folder.path);
  CHECK(files_of(run, folder.path) ==
        std::vector<std::string>{"train_text.csv", "train_text.svg", "train_text_more.svg"});
}

}  // namespace segue::examples_lesson_runs_test
