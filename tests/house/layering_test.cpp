// The order of the house, read from the files themselves.
#include <doctest/doctest.h>

#include <set>

#include "tests/house/files.hpp"

using namespace house;

namespace {

const Lines folders = {"tensor", "autograd", "nn", "xl", "examples"};  // each may use itself and those before it

Lines sources_of(const Lines& where) {
  Lines all;
  for (const std::string& folder : where) {
    for (const std::string& file : files_below(folder, {".hpp", ".cpp"})) all.push_back(file);
  }
  return all;
}

// What lies on the way from a number to a trained Transformer-XL: all but what it is compared with, what it is tried
// on, and what prints, checks and files.
bool is_core(const std::string& file) {
  const bool beside = file.find("/kernels/") != std::string::npos || file.find("/rivals/") != std::string::npos ||
                      file.find("/tasks/") != std::string::npos || file.find("/tools/") != std::string::npos;
  return !starts_with(file, "examples/") && !starts_with(file, "tests/") && !beside;
}

// The place of a path's first folder in the order; -1 when it is none of them.
long rank(const std::string& path) {
  const auto found = std::find(folders.begin(), folders.end(), path.substr(0, path.find('/')));
  return found == folders.end() ? -1 : found - folders.begin();
}

// Calls use(file, line number, included path, whether in quotes) for every #include line.
template <class F>
void for_each_include(const Lines& files, const F& use) {
  for (const std::string& file : files) {
    const Lines lines = read_lines(file);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string line = trimmed(lines[i]);
      if (!starts_with(line, "#") || line.find("include") == std::string::npos) continue;
      const auto open = line.find_first_of("<\"");
      const auto close = line.find_last_of(">\"");
      if (open == std::string::npos || close == open) continue;
      use(file, i + 1, line.substr(open + 1, close - open - 1), line[open] == '"');
    }
  }
}

// The standard library's headers have neither a dot nor a slash; these few are the operating system's.
bool is_system_header(const std::string& path) {
  static const std::set<std::string> posix = {"fcntl.h",     "pthread.h",      "signal.h",   "spawn.h",    "sys/file.h",
                                              "sys/ioctl.h", "sys/resource.h", "sys/stat.h", "sys/wait.h", "unistd.h"};
  return path.find_first_of("./") == std::string::npos || posix.count(path) > 0;
}

}  // namespace

TEST_CASE("tensor, autograd, nn, xl and examples include only themselves and the folders to their left") {
  Faults faults;
  for_each_include(sources_of(folders),
                   [&](const std::string& file, std::size_t line, const std::string& path, bool quoted) {
                     if (!quoted) return;
                     if (!fs::exists(root / path))
                       faults.add(file, line, path + " is not a path from the root of the project");
                     if (rank(path) < 0 || rank(path) > rank(file)) faults.add(file, line, "must not include " + path);
                   });
  CHECK(faults.text == "");
}

TEST_CASE("the path of the paper does not know its rivals") {
  Faults faults;
  for_each_include(sources_of({"xl"}), [&](const std::string& file, std::size_t line, const std::string& path, bool) {
    if (starts_with(path, "xl/rivals/") && !starts_with(file, "xl/rivals/")) faults.add(file, line, "includes " + path);
  });
  CHECK(faults.text == "");
}

TEST_CASE("no package is used but fmt, and doctest in the tests") {
  Faults faults;
  Lines files = sources_of(folders);
  for (const std::string& file : sources_of({"tests"})) files.push_back(file);
  for_each_include(files, [&](const std::string& file, std::size_t line, const std::string& path, bool quoted) {
    const bool doctest_here = path == "doctest/doctest.h" && starts_with(file, "tests/");
    if (!quoted && !is_system_header(path) && !starts_with(path, "fmt/") && !doctest_here) {
      faults.add(file, line, "includes " + path);
    }
  });
  CHECK(faults.text == "");
}

TEST_CASE("headers stay light: only the two that print include fmt") {
  Faults faults;
  for_each_include(sources_of({"tensor", "autograd", "nn", "xl"}), [&](const std::string& file, std::size_t line,
                                                                       const std::string& path, bool) {
    const bool printing = file == "tensor/tools/print.hpp" || file == "tensor/fail.hpp";
    const bool heavy = starts_with(path, "fmt/") || path == "tensor/tools/print.hpp" || path == "tensor/fail.hpp";
    if (fs::path(file).extension() == ".hpp" && heavy && !printing) faults.add(file, line, "includes " + path);
  });
  CHECK(faults.text == "");
}

TEST_CASE("every header is guarded, every source is in a list of the build") {
  Faults faults;
  std::string lists;
  for (const char* file : {"CMakeLists.txt", "tests/CMakeLists.txt"}) {
    for (const std::string& line : read_lines(file)) lists += trimmed(line) + "\n";
  }
  for (const std::string& line : read_lines("tests/benchmarks/CMakeLists.txt")) {
    lists += "benchmarks/" + trimmed(line) + "\n";
  }
  for (const std::string& file : sources_of({"tensor", "autograd", "nn", "xl", "examples", "tests"})) {
    const Lines lines = read_lines(file);
    const bool header = fs::path(file).extension() == ".hpp";
    if (header && std::find(lines.begin(), lines.end(), "#pragma once") == lines.end())
      faults.add(file, 1, "no #pragma once");
    const std::string listed = starts_with(file, "tests/") ? file.substr(6) : file;
    if (!header && !starts_with(file, "tests/consumer/") && lists.find(listed) == std::string::npos)
      faults.add(file, 0, "is built by nobody");
  }
  CHECK(faults.text == "");
}

TEST_CASE("what a reader must read has less than 4,000 lines, blank ones aside, and no file more than 400") {
  Faults faults;
  std::size_t core = 0;
  for (const std::string& file : sources_of({"tensor", "autograd", "nn", "xl", "examples", "tests"})) {
    const Lines lines = read_lines(file);
    if (lines.size() > (starts_with(file, "tests/") ? 500 : 400)) faults.add(file, lines.size(), "is too long");
    const auto blank =
        std::count_if(lines.begin(), lines.end(), [](const auto& line) { return trimmed(line).empty(); });
    if (is_core(file)) core += lines.size() - static_cast<std::size_t>(blank);
  }
  CHECK(faults.text == "");
  CHECK(core < 4000);
  MESSAGE("lines of the core: " << core);
}

TEST_CASE("the top level holds only the fixed names") {
  const std::set<std::string> names = {
      "tensor",    "autograd",          "nn",    "xl", "examples", "docs", "tests", "CMakeLists.txt",
      "README.md", "CMakePresets.json", "build", "out"};  // the last two are git-ignored
  Faults faults;
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    if (name[0] != '.' && names.count(name) == 0) faults.add(name, 0, "does not belong to the top level");
  }
  CHECK(faults.text == "");
}

TEST_CASE("no file names a path of somebody's machine") {
  Faults faults;
  Lines files = {"CMakeLists.txt", "CMakePresets.json", "README.md", ".ci/run"};
  for (const char* folder : {"tensor", "autograd", "nn", "xl", "examples", "docs", "tests"}) {
    for (const std::string& file : files_below(folder, {".hpp", ".cpp", ".md", ".txt", ".py", ".sh", ".json"}))
      files.push_back(file);
  }
  for (const std::string& file : files) {
    const Lines lines = read_lines(file);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      for (const char* folder : {"home", "work", "root", "Users"}) {
        if (lines[i].find("/" + std::string(folder) + "/") != std::string::npos)
          faults.add(file, i + 1, trimmed(lines[i]));
      }
    }
  }
  CHECK(faults.text == "");
}
