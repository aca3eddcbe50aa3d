// The order of the house, read from the files themselves.
#include <doctest/doctest.h>

#include <cctype>
#include <regex>
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

Lines core_sources() {
  Lines core;
  for (const std::string& file : sources_of({"tensor", "autograd", "nn", "xl"})) {
    if (is_core(file)) core.push_back(file);
  }
  return core;
}
Lines kernel_sources() {
  Lines kernels;
  for (const std::string& file : sources_of({"tensor", "autograd", "nn", "xl"})) {
    if (file.find("/kernels/") != std::string::npos) kernels.push_back(file);
  }
  return kernels;
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

// How wide a line of UTF-8 is: the bytes that follow the first of a character take no column.
long columns_of(const std::string& line) {
  return std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

// A line without what its strings, characters and the comment behind it say.
std::string bare(const std::string& line) {
  std::string code;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line.compare(i, 2, "//") == 0) break;
    code += line[i];
    const bool between_digits = i > 0 && line[i] == '\'' && std::isalnum(static_cast<unsigned char>(line[i - 1])) != 0;
    if (line[i] != '"' && (line[i] != '\'' || between_digits)) continue;
    const char quote = line[i];
    for (++i; i < line.size() && line[i] != quote; ++i) i += line[i] == '\\' ? 1 : 0;
    code += quote;
  }
  return code;
}

// Adds each line that has two statements side by side in the same pair of brackets, and each statement that is two
// joined by a comma: one that begins as an assignment, an increment or a return and goes on behind a comma outside of
// all brackets. The ; of for (..) end no statement.
void add_crowded_lines(const Lines& lines, const std::string& file, Faults& faults) {
  static const std::regex joined(
      "^(if \\(.*\\) |for \\(.*\\) |else )*(return |\\+\\+|--|[a-z_0-9.]+(->[a-z_.]+)?(\\[\\])? ?[-+*/]?= )[^;]*,");
  std::vector<char> open;  // the brackets around this place
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (starts_with(trimmed(lines[i]), "#")) continue;
    std::vector<int> ended(open.size() + 1, 0);  // statements that ended on this line, at each depth
    std::string outside(open.empty() || open.back() == '{' ? "" : "(");  // the line without what is in its brackets
    std::size_t depth = 0;
    for (const char c : trimmed(bare(lines[i]))) {
      if (c == '(' || c == '[' || c == '{') {
        open.push_back(c);
        ended.resize(open.size() + 1);
        ended.back() = 0;
        if (depth++ == 0) outside += c;
      } else if (c == ')' || c == ']' || c == '}') {
        if (!open.empty()) open.pop_back();
        if (depth > 0 && --depth == 0) outside += c;
      } else if (depth == 0) {
        outside += c;
      }
      if (c != ';' || (!open.empty() && open.back() == '(')) continue;
      if (++ended[open.size()] > 1) faults.add(file, i + 1, "two statements: " + trimmed(lines[i]));
    }
    if (std::regex_search(outside, joined) && outside.back() == ';')
      faults.add(file, i + 1, "joined by a comma: " + trimmed(lines[i]));
  }
}

// Begins a function at the left margin, where the headers of kernels have theirs.
bool is_function(const std::string& line) {
  static const std::regex begin(
      "^(inline |constexpr |\\[\\[[a-z]+\\]\\] )*[A-Za-z_][A-Za-z0-9_:<>*& ]* [*&]?[a-z_0-9]+\\(.*");
  return std::regex_match(line, begin) && !starts_with(line, "return ");
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

TEST_CASE("the core includes nothing of what is compared, tried, printed, checked or filed") {
  Faults faults;
  for_each_include(core_sources(), [&](const std::string& file, std::size_t line, const std::string& path, bool) {
    for (const char* beside : {"/tools/", "/rivals/", "/tasks/"}) {
      if (path.find(beside) != std::string::npos) faults.add(file, line, "includes " + path);
    }
  });
  CHECK(faults.text == "");
}

TEST_CASE("what a reader must read has less than 3,700 lines, blank ones aside") {
  std::size_t core = 0;
  for (const std::string& file : core_sources()) {
    for (const std::string& line : read_lines(file)) core += trimmed(line).empty() ? 0 : 1;
  }
  CHECK(core < 3700);
  MESSAGE("lines of the core: " << core);
}

TEST_CASE("no source of the library or of the lessons has more than 400 lines, none of the tests more than 500") {
  Faults faults;
  for (const std::string& file : sources_of({"tensor", "autograd", "nn", "xl", "examples", "tests"})) {
    const Lines lines = read_lines(file);
    if (lines.size() > (starts_with(file, "tests/") ? 500 : 400)) faults.add(file, lines.size(), "is too long");
  }
  CHECK(faults.text == "");
}

TEST_CASE("no line of the library is wider than 100 columns") {
  Faults faults;
  for (const std::string& file : sources_of({"tensor", "autograd", "nn", "xl"})) {
    const Lines lines = read_lines(file);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (columns_of(lines[i]) > 100) faults.add(file, i + 1, "is " + std::to_string(columns_of(lines[i])) + " wide");
    }
  }
  CHECK(faults.text == "");
}

TEST_CASE("the core has one statement a line, and no comma joins two of them") {
  Faults faults;
  for (const std::string& file : core_sources()) add_crowded_lines(read_lines(file), file, faults);
  CHECK(faults.text == "");
}

TEST_CASE("the search for crowded lines finds them, and passes what may stand on a line") {
  const auto faults_of = [](const std::string& line) {
    Faults faults;
    add_crowded_lines({line}, "line", faults);
    return faults.text;
  };
  for (const char* crowded : {"a = 1; b = 2;", "if (x) { a = 1; b = 2; }", "a = 1, b = 2;", "return f(), 0;",
                              "if (x) a = 1, b[2] = 2;", "++i, ++j;", "f([&] { a = 1; b = 2; });"}) {
    CHECK_MESSAGE(faults_of(crowded) != "", crowded);
  }
  for (const char* good : {"for (int i = 0; i < n; ++i, ++j) f(i);", "int get() const { return x; }", "g(a, b);",
                           "sort(v, [](int a, int b) { return a < b; });", "const Index B = 1, T = 2;",
                           "f(\"a; b; c\");  // first; second;", "x = {1, 2}, ", "Pair<int, int> p = f<int, 2>();",
                           "const auto g = [&] { return 1; };", "return {a, b};", "char c = ';', d = ',';"}) {
    CHECK_MESSAGE(faults_of(good) == "", good);
  }
}

TEST_CASE("the search for functions tells them from what is not one") {
  for (const char* line : {"void f(int x);", "inline Real* g(const T& x) {", "T at_most(T x, T limit) {"}) {
    CHECK_MESSAGE(is_function(line), line);
  }
  for (const char* line :
       {"struct Matrix {", "inline constexpr int a = 6;", "  return f(x);", "}", "#define F(x)",
        "              Index z_row, Real* buffer);", "template <class T>", "using F = int (*)(int);"}) {
    CHECK_MESSAGE(!is_function(line), line);
  }
}

TEST_CASE("every file of kernels begins with why it is there, and every function of their headers has a comment") {
  Faults faults;
  for (const std::string& file : kernel_sources()) {
    const Lines lines = read_lines(file);
    if (lines.empty() || !starts_with(lines[0], "// ")) faults.add(file, 1, "does not begin with a comment");
    if (fs::path(file).extension() != ".hpp") continue;
    bool explained = false;  // the paragraph began with a comment
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool begins = i == 0 || trimmed(lines[i - 1]).empty();
      if (begins) explained = starts_with(trimmed(lines[i]), "//");
      if (is_function(lines[i]) && !explained) faults.add(file, i + 1, "has no comment: " + lines[i]);
    }
  }
  CHECK(faults.text == "");
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
