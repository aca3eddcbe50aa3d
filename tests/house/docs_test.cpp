// The book cannot drift from the code. A line before each fenced block of README.md and docs/ says what the block is,
// in an HTML comment, which no reader of the rendered page sees:
//
//   <!-- from nn/linear.cpp -->   an excerpt: these lines stand in that file, one after the other. Indentation and
//                                 empty lines do not count; a line "..." or "// ..." leaves out any number of lines.
//   <!-- program tied_weight -->  a whole program, whose main() has no return; the build compiles it (with double)
//                                 and this test runs it.
//   <!-- prints -->               follows a program: exactly what it prints.
//   <!-- output of NAME -->       an output of the lesson bin/NAME, shown as an example.
//   <!-- by hand -->              anything else: a formula, a drawing.
//
// Blocks marked ```sh need no such line: presets and programs that their commands name must exist.
#include <doctest/doctest.h>

#include <cstdio>
#include <memory>
#include <regex>
#include <sstream>

#include "tests/house/files.hpp"

using namespace house;

namespace {

struct Block {
  std::string file;
  std::size_t line = 0;  // of the opening fence
  std::string language;
  std::string marker, name;  // "from" and "nn/linear.cpp"
  Lines lines;
};

struct Page {
  std::string file;
  Lines prose;  // what stands outside the blocks; the others are left empty, so that line numbers hold
  std::vector<Block> blocks;
};

void read_marker(Block& block, const std::string& line) {
  static const std::regex pattern("<!-- (from|program|prints|output of|by hand) ?(\\S*) -->");
  std::smatch match;
  if (std::regex_match(line, match, pattern)) block.marker = match[1], block.name = match[2];
}

Page read_page(const std::string& file) {
  Page page{file, {}, {}};
  bool inside = false;
  std::string last;  // the last line that was not empty
  std::size_t number = 0;
  for (const std::string& line : read_lines(file)) {
    ++number;
    const std::string text = trimmed(line);
    const bool fence = starts_with(text, "```");
    if (fence && !inside) {
      page.blocks.push_back({file, number, text.substr(3), "", "", {}});
      read_marker(page.blocks.back(), last);
    } else if (inside && !fence) {
      page.blocks.back().lines.push_back(line);
    }
    page.prose.push_back(inside || fence ? "" : line);
    if (fence) inside = !inside;
    if (!text.empty()) last = text;
  }
  return page;
}

std::vector<Page> book() {
  std::vector<Page> pages;
  if (fs::exists(root / "README.md")) pages.push_back(read_page("README.md"));
  for (const std::string& file : files_below("docs", {".md"})) pages.push_back(read_page(file));
  return pages;
}

Lines without_empty(const Lines& lines) {
  Lines kept;
  for (const std::string& line : lines) {
    if (!trimmed(line).empty()) kept.push_back(trimmed(line));
  }
  return kept;
}

bool is_gap(const std::string& line) { return line == "..." || line == "// ..."; }

// The first line of the excerpt that the file does not have where it should; empty when the excerpt is faithful.
// Between two gaps the lines are contiguous, so the earliest place of each stretch leaves the most room for the next.
std::string first_missing(const Lines& excerpt, const Lines& file) {
  std::size_t from = 0;
  for (std::size_t i = 0; i < excerpt.size();) {
    std::size_t end = i;
    while (end < excerpt.size() && !is_gap(excerpt[end])) ++end;
    std::size_t best = 0, place = from;
    for (; place < file.size(); ++place) {
      std::size_t equal = 0;
      while (i + equal < end && place + equal < file.size() && excerpt[i + equal] == file[place + equal]) ++equal;
      best = std::max(best, equal);
      if (i + equal == end) break;
    }
    if (i + best < end) return excerpt[i + best];
    from = place + (end - i);
    i = end + 1;
  }
  return "";
}

Lines output_of(const std::string& command, int& status) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  for (int c; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  status = pipe == nullptr ? -1 : pclose(pipe);
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool is_lesson(const std::string& name) {
  return (" " + std::string(SEGUE_LESSONS) + " ").find(" " + name + " ") != std::string::npos;
}

// Whether CMakePresets.json has a preset of this name in the list `kind`, such as "workflowPresets".
bool has_preset(const std::string& kind, const std::string& name) {
  bool inside = false;
  for (const std::string& line : read_lines("CMakePresets.json")) {
    const std::string text = trimmed(line);
    if (text.find("Presets\": [") != std::string::npos) inside = starts_with(text, "\"" + kind + "\"");
    if (inside && text.find("\"name\": \"" + name + "\"") != std::string::npos) return true;
  }
  return false;
}

void check_command(const Block& block, const std::string& line, Faults& faults) {
  static const std::regex preset("(cmake|ctest)( --workflow| --build)? --preset[ =]([a-z]+)");
  static const std::regex program("build/([a-z]+)/bin/([a-z0-9_]+)");
  for (std::sregex_iterator match(line.begin(), line.end(), preset), end; match != end; ++match) {
    const std::string option = (*match)[2];
    const std::string kind = (*match)[1] == "ctest"    ? "testPresets"
                             : option == " --workflow" ? "workflowPresets"
                             : option == " --build"    ? "buildPresets"
                                                       : "configurePresets";
    if (!has_preset(kind, (*match)[3])) faults.add(block.file, block.line, "no preset for: " + match->str());
  }
  for (std::sregex_iterator match(line.begin(), line.end(), program), end; match != end; ++match) {
    if (!has_preset("configurePresets", (*match)[1]) || !is_lesson((*match)[2]))
      faults.add(block.file, block.line, "no such program: " + match->str());
  }
}

// The name GitHub gives a heading, by which links reach it.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : trimmed(heading.substr(heading.find_first_not_of('#')))) {
    const auto u = static_cast<unsigned char>(c);
    if (c == ' ') anchor += '-';
    if (std::isalnum(u) || c == '-' || c == '_' || u >= 128) anchor += static_cast<char>(std::tolower(u));
  }
  return anchor;
}

bool has_anchor(const std::string& file, const std::string& anchor) {
  for (const std::string& line : read_page(file).prose) {
    if (starts_with(line, "#") && anchor_of(line) == anchor) return true;
  }
  return false;
}

void check_link(const std::string& file, std::size_t line, const std::string& link, Faults& faults) {
  if (link.find("://") != std::string::npos || starts_with(link, "mailto:")) return;
  const std::string path = link.substr(0, link.find('#'));
  const fs::path target = path.empty() ? fs::path(file) : (fs::path(file).parent_path() / path).lexically_normal();
  if (!fs::exists(root / target)) return faults.add(file, line, "links to nothing: " + link);
  const bool anchored = link.find('#') != std::string::npos && target.extension() == ".md";
  if (anchored && !has_anchor(target.generic_string(), link.substr(link.find('#') + 1)))
    faults.add(file, line, "links to no heading: " + link);
}

}  // namespace

TEST_CASE("every block of the book says where it comes from") {
  Faults faults;
  for (const Page& page : book()) {
    for (const Block& block : page.blocks) {
      if (block.marker.empty() && block.language != "sh")
        faults.add(block.file, block.line, "a block without its mark");
      if (block.marker == "program" && block.language != "cpp")
        faults.add(block.file, block.line, "a program is ```cpp");
      if (block.marker == "output of" && !is_lesson(block.name))
        faults.add(block.file, block.line, "no lesson " + block.name);
    }
  }
  CHECK(faults.text == "");
}

TEST_CASE("every excerpt in the book is in its source") {
  Faults faults;
  for (const Page& page : book()) {
    for (const Block& block : page.blocks) {
      if (block.marker != "from") continue;
      const std::string missing = first_missing(without_empty(block.lines), without_empty(read_lines(block.name)));
      if (!missing.empty())
        faults.add(block.file, block.line, block.name + " does not have, where it should: " + missing);
    }
  }
  CHECK(faults.text == "");
}

TEST_CASE("every program in the book runs and prints what the book says") {
  Faults faults;
  for (const Page& page : book()) {
    for (std::size_t i = 0; i < page.blocks.size(); ++i) {
      const Block& block = page.blocks[i];
      const bool program = block.marker == "program";
      if (block.marker == "prints" && (i == 0 || page.blocks[i - 1].marker != "program"))
        faults.add(block.file, block.line, "no program before what it prints");
      if (!program) continue;
      int status = 0;
      const Lines printed = output_of(std::string(SEGUE_PROGRAMS) + " " + block.name, status);
      if (status != 0) faults.add(block.file, block.line, "program " + block.name + " fails");
      if (i + 1 == page.blocks.size() || page.blocks[i + 1].marker != "prints") continue;
      if (without_empty(printed) != without_empty(page.blocks[i + 1].lines)) {
        std::string text = "program " + block.name + " prints\n";
        for (const std::string& line : printed) text += line + "\n";
        faults.add(block.file, page.blocks[i + 1].line, text);
      }
    }
  }
  CHECK(faults.text == "");
}

TEST_CASE("commands in the book name presets and programs that exist") {
  Faults faults;
  for (const Page& page : book()) {
    for (const Block& block : page.blocks) {
      if (block.language != "sh") continue;
      for (const std::string& line : block.lines) check_command(block, line, faults);
    }
  }
  CHECK(faults.text == "");
}

TEST_CASE("every link inside the book leads somewhere") {
  static const std::regex code("`[^`]*`"), link("\\]\\(([^)\\s]+)\\)|src=\"([^\"]+)\"");
  Faults faults;
  for (const Page& page : book()) {
    for (std::size_t i = 0; i < page.prose.size(); ++i) {
      const std::string line = std::regex_replace(page.prose[i], code, "");
      for (std::sregex_iterator match(line.begin(), line.end(), link), end; match != end; ++match)
        check_link(page.file, i + 1, (*match)[1].matched ? (*match)[1] : (*match)[2], faults);
    }
  }
  CHECK(faults.text == "");
}

TEST_CASE("the checks of the book see a changed line, a wrong order and a missing end") {
  const Lines file = {"a", "b", "c", "b", "d"};
  CHECK(first_missing({"b", "c"}, file) == "");
  CHECK(first_missing({"a", "...", "d"}, file) == "");
  CHECK(first_missing({"b", "d"}, file) == "");
  CHECK(first_missing({"a", "c"}, file) == "c");
  CHECK(first_missing({"d", "...", "a"}, file) == "a");
  CHECK(first_missing({"d", "e"}, file) == "e");
  CHECK(first_missing({"x"}, {}) == "x");
  CHECK(anchor_of("## The *relative* shift, by hand") == "the-relative-shift-by-hand");
}
