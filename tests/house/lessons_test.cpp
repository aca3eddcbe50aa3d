// The table of lessons in README.md, the list that bin/lessons runs, and the programs there are, are one and the same.
#include <doctest/doctest.h>

#include <regex>
#include <sstream>

#include "examples/support/lesson_list.hpp"
#include "tests/house/files.hpp"

using namespace house;

namespace {

// A line of the table as README.md should have it.
std::string row_of(const segue::Lesson& lesson) {
  const std::string number = fs::path(lesson.page).filename().string().substr(0, 2);
  return "| `" + lesson.name + "` | " + lesson.question + " | [" + number.substr(number[0] == '0') + "](" +
         lesson.page + ") |";
}

}  // namespace

TEST_CASE("README.md has the lessons of the list, in its order, with the same questions and pages") {
  std::string expected, found;
  for (const segue::Lesson& lesson : segue::lesson_list) expected += row_of(lesson) + "\n";
  static const std::regex row("\\| `[a-z0-9_]+` \\|.*\\]\\(docs/.*\\) \\|");
  for (const std::string& line : read_lines("README.md")) {
    if (std::regex_match(line, row)) found += line + "\n";
  }
  CHECK(found == expected);
}

TEST_CASE("every program of a lesson is in the list, and every lesson has a program and a page") {
  std::istringstream programs(SEGUE_LESSONS);
  std::string unlisted, unbuilt, without_page;
  Lines built, listed;
  for (std::string name; programs >> name;) built.push_back(name);
  for (const segue::Lesson& lesson : segue::lesson_list) listed.push_back(lesson.name);
  const auto has = [](const Lines& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const std::string& name : built) unlisted += has(listed, name) || name == "lessons" ? "" : name + " ";
  for (const std::string& name : listed) unbuilt += has(built, name) ? "" : name + " ";
  for (const segue::Lesson& lesson : segue::lesson_list)
    without_page += fs::exists(root / lesson.page) ? "" : lesson.page;
  CHECK(unlisted == "");
  CHECK(unbuilt == "");
  CHECK(without_page == "");
}

TEST_CASE("a lesson stands behind the one whose files it reads") {
  std::vector<std::string> before = {""};
  for (const segue::Lesson& lesson : segue::lesson_list) {
    CHECK_MESSAGE(std::find(before.begin(), before.end(), lesson.after) != before.end(), lesson.name);
    before.push_back(lesson.name);
  }
}
