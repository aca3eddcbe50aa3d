#include "examples/support/output.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <limits>

#include "examples/support/progress.hpp"
#include "examples/support/terminal.hpp"
#include "tests/support/folder.hpp"

namespace segue::examples_output_test {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> lines_of(std::FILE* file) {
  std::vector<std::string> lines(1);
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
    if (c == '\n') lines.emplace_back();
    if (c != '\n') lines.back() += static_cast<char>(c);
  }
  lines.pop_back();
  return lines;
}

}  // namespace

TEST_CASE("a table becomes a header and rows, with fields quoted where they must be") {
  Table table({"name", "step", "loss, nats"});
  table.add_row({"M = 0", Index{7}, 0.1});
  table.add_row({"say \"hi\", twice", -1, 2.0});
  table.add_row({std::string("two\nlines"), 0, 0.1F});
  CHECK(to_csv(table) ==
        "name,step,\"loss, nats\"\nM = 0,7,0.1\n\"say \"\"hi\"\", twice\",-1,2\n\"two\nlines\",0,0.1\n");
}

TEST_CASE("a number in a table reads back as the same number") {
  for (double value : {0.1 + 0.2, 1.0 / 3, -0.0, 5e-324, 1.7976931348623157e308, 123456789.123456789, 1e22}) {
    const std::string text = Cell(value).text;
    CAPTURE(text);
    const double back = std::strtod(text.c_str(), nullptr);
    CHECK(back == value);
    CHECK(std::signbit(back) == std::signbit(value));
  }
  CHECK(Cell(16777217).text == "16777217");
  CHECK(Cell(std::numeric_limits<double>::quiet_NaN()).text == "nan");
  CHECK(Cell(-std::numeric_limits<float>::quiet_NaN()).text == "nan");
  CHECK(Cell(-std::numeric_limits<double>::infinity()).text == "-inf");
}

TEST_CASE("a row of the wrong width is an error") {
  Table table({"a", "b"});
  CHECK_THROWS_AS(table.add_row({1.0}), ValueError);
  CHECK(table.rows.empty());
}

TEST_CASE("writing creates the folders, replaces the old content and leaves nothing else behind") {
  const Folder folder;
  const fs::path path = folder.path / "a" / "b" / "table.csv";
  Table table({"x"});
  write_text_file(path, "something that was longer than the table");
  table.add_row({1});
  write_csv(path, table);
  CHECK(content(path) == "x\n1\n");
  CHECK(std::distance(fs::directory_iterator(path.parent_path()), fs::directory_iterator()) == 1);
}

TEST_CASE("a file that cannot be written is an error that names it, and no temporary file stays") {
  const Folder folder;
  write_text_file(folder.path / "file", "text");
  fs::create_directories(folder.path / "folder" / "full");
  for (const fs::path& path : {folder.path / "file" / "below.csv", folder.path / "folder"}) {
    try {
      write_text_file(path, "new");
      FAIL("no error for " << path);
    } catch (const FileError& error) {
      CHECK(std::string(error.what()).find(path.string()) != std::string::npos);
    }
  }
  CHECK(content(folder.path / "file") == "text");
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 2);
}

TEST_CASE("progress off a terminal is one line for each quarter of the way") {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  {
    Progress progress("training", 1000, file);
    for (Index step = 1; step <= 1000; ++step) progress.update(step, "loss 1.5");
  }
  const std::vector<std::string> lines = lines_of(file);
  std::fclose(file);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].rfind("training 250/1000  loss 1.5  ", 0) == 0);
  CHECK(lines[3].rfind("training 1000/1000  loss 1.5  took ", 0) == 0);
  for (const std::string& line : lines) CHECK(line.find('\r') == std::string::npos);
}

TEST_CASE("a loop of no or few steps reports no more lines than steps") {
  for (Index total : {0, 1, 3}) {
    std::FILE* const file = std::tmpfile();
    REQUIRE(file != nullptr);
    {
      Progress progress("work", total, file);
      for (Index step = 1; step <= total; ++step) progress.update(step);
    }
    CHECK(lines_of(file).size() == static_cast<std::size_t>(total));
    std::fclose(file);
  }
}

TEST_CASE("the time left is that of the remaining steps at the speed so far") {
  CHECK(progress_line("training", 150, 600, "loss 1.234", 4) == "training 150/600  loss 1.234  12 s left");
  CHECK(progress_line("training", 0, 600, "", 4) == "training 0/600");
  CHECK(progress_line("training", 600, 600, "", 185) == "training 600/600  took 3 min 5 s");
  CHECK(duration(59.4) == "59 s");
  CHECK(duration(59.6) == "1 min 0 s");
  CHECK(duration(4320) == "1 h 12 min");
}

TEST_CASE("columns counts characters, not bytes") {
  CHECK(columns("") == 0);
  CHECK(columns("abc") == 3);
  CHECK(columns("●─é") == 3);
}

}  // namespace segue::examples_output_test
