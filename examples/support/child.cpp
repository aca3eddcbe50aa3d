#include "examples/support/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <system_error>

extern char** environ;

namespace segue {

namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

Child start_child(const std::vector<std::string>& command, const std::filesystem::path& output,
                  const std::filesystem::path& errors, Where where) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // a terminal sends Ctrl-C to the group in front
  posix_spawnattr_setpgroup(&attributes, 0);

  pid_t process = 0;
  const int error = posix_spawnp(&process, words[0], &files, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) {
    throw FileError(
        located(fmt::format("cannot run {}: {}", command[0], std::generic_category().message(error)), where));
  }
  return process;
}

std::optional<ChildEnd> end_of(Child child) {
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, WNOHANG, &usage) == 0) return std::nullopt;
  ChildEnd end;
  if (WIFEXITED(status)) end.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  end.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  return end;
}

void interrupt(Child child) { kill(child, SIGINT); }

}  // namespace segue
