#include "examples/support/lesson_page.hpp"

#include <doctest/doctest.h>

#include "examples/support/chart.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/svg.hpp"

namespace segue::examples_lesson_page_test {

namespace fs = std::filesystem;

namespace {

void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

LessonRun run_of(const std::string& name, RunState state) {
  LessonRun run = {{name, "What is `" + name + "`?", "docs/08_training_loop.md", 1, {}}};
  run.command = {"bin/" + name, "out=my files"};
  run.state = state;
  run.seconds = 12, run.cpu_seconds = 11;
  run.file_start = fs::file_time_type::min();
  return run;
}

// Whether the parts stand in the text one after the other.
bool in_order(const std::string& text, const std::vector<std::string>& parts) {
  std::size_t at = 0;
  for (const std::string& part : parts) {
    at = text.find(part, at);
    if (at == std::string::npos) return false;
    at += part.size();
  }
  return true;
}

}  // namespace

TEST_CASE("a section has the question, the pictures, what was printed, the command and the files, in this order") {
  const Folder folder;
  write_svg(folder.path / "train_text.svg", {"A < B", "Both & more.", {"x"}, {"y"}, {{"s", {0, 1}, {0, 1}}}});
  write_svg(folder.path / "train_text_more.svg", {"More", "Even more.", {"x"}, {"y"}, {{"s", {0, 1}, {0, 1}}}});
  write(folder.path / "train_text.csv", "a,b\n");
  write(folder.path / "train_text.txt", "x < y & z\n\nFigure\n1 ┤ *\n  └──\n\nsecond\n\nthird\n");
  const std::string html = lesson_page({run_of("train_text", RunState::done)}, 13, folder.path);
  CHECK(in_order(
      html, {"1 of 1 ran to the end, in 13 s together and with 11 s of processor time.",
             "<a href=\"#train_text\">What is <code>train_text</code>?</a>",
             "<section id=\"train_text\">\n<h2>What is <code>train_text</code>?</h2>", "12 s", "08_training_loop.md",
             "page 8 of the book", "<title id=\"train_text-title\">A &lt; B</title>", "Both &amp; more.",
             "<title id=\"train_text_more-title\">", "<pre tabindex=\"0\">x &lt; y &amp; z\n</pre>",
             "<summary>On the terminal: Figure</summary>", "1 ┤ *", "<pre tabindex=\"0\">second\n\nthird\n</pre>",
             "<code>bin/train_text 'out=my files'</code>", "<a href=\"train_text.csv\">train_text.csv</a>",
             "<a href=\"train_text.txt\">", "</section>"}));
  CHECK(count(html, "id=\"title\"") == 0);
  CHECK(count(html, "<svg ") == 2);
  CHECK(count(html, "aria-labelledby=\"train_text-title train_text-desc\"") == 1);
}

TEST_CASE("lessons stand in the order given, whatever became of them") {
  const Folder folder;
  std::vector<LessonRun> runs = {run_of("a", RunState::waiting), run_of("b", RunState::failed),
                                 run_of("c", RunState::interrupted), run_of("d", RunState::running),
                                 run_of("e", RunState::done)};
  runs[1].complaint = "b: cannot <read> it";
  const std::string html = lesson_page(runs, 60, folder.path);
  CHECK(in_order(html,
                 {"1 of 5 ran to the end", "What failed:", "<a href=\"#b\">b</a>", "<section id=\"a\">", "has not run",
                  "<section id=\"b\">", "<p class=\"failed\">b: cannot &lt;read&gt; it</p>", "<section id=\"c\">",
                  "interrupted after 12 s", "<section id=\"d\">", "still running", "<section id=\"e\">"}));
  CHECK(names_of_failed(runs) == std::vector<std::string>{"b"});
}

TEST_CASE("a page without failures has nothing in red") {
  const Folder folder;
  const std::string html = lesson_page({run_of("a", RunState::done)}, 1, folder.path);
  CHECK(count(html, "class=\"failed\"") == 0);
  CHECK(count(html, "<script") == 0);
}

TEST_CASE("a command is shown as a shell would read it") {
  CHECK(as_typed({"build/bin/a", "out=out", "lengths=1,2"}) == "build/bin/a out=out lengths=1,2");
  CHECK(as_typed({"my a", "x=", "", "it's", "a*"}) == "'my a' x= '' 'it'\\''s' 'a*'");
}

TEST_CASE("questions and durations as a reader sees them") {
  CHECK(question_as_html("Is `a<b` & \"c\"?") == "Is <code>a&lt;b</code> &amp; &quot;c&quot;?");
  CHECK(short_duration(0.04) == "0.04 s");
  CHECK(short_duration(0.996) == "1.0 s");
  CHECK(short_duration(9.94) == "9.9 s");
  CHECK(short_duration(9.96) == "10 s");
  CHECK(short_duration(185) == "3 min 5 s");
}

}  // namespace segue::examples_lesson_page_test
