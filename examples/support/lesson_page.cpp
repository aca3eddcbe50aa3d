#include "examples/support/lesson_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include "examples/support/progress.hpp"
#include "examples/support/svg.hpp"

namespace segue {

namespace fs = std::filesystem;

namespace {

constexpr const char* page_style = R"(
:root { color-scheme: light dark; --ink: #222; --soft: #666; --paper: #fff; --field: #f4f4f2; --line: #ddd;
        --link: #0b57a4; --bad: #b3001b; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ddd; --soft: #999; --paper: #1a1a1a; --field: #262626; --line: #444; --link: #8ab8ee; --bad: #ff7a85; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1, h2 { line-height: 1.25; overflow-wrap: break-word; }
section { border-top: 1px solid var(--line); margin-top: 2.5rem; }
a { color: var(--link); }
li { margin: .3rem 0; }
p, li { overflow-wrap: anywhere; }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .85em; }
p code { background: var(--field); padding: .1rem .3rem; border-radius: .2rem; }
pre { background: var(--field); padding: .8rem; overflow-x: auto; font-size: .8rem; line-height: 1.35; }
details > pre { line-height: 1.15; }
summary { cursor: pointer; }
figure { margin: 1rem 0; }
figure > div { overflow-x: auto; }
figure svg { display: block; max-width: 100%; min-width: 34rem; height: auto; }
figcaption { margin-top: .4rem; }
figcaption, .facts { color: var(--soft); font-size: .9rem; }
.failed { color: var(--bad); font-weight: bold; }
)";

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A path as the target of a link.
std::string as_link(const fs::path& path) {
  std::string link;
  for (const char c : path.generic_string()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || std::string("-._~/").find(c) != std::string::npos;
    link += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return link;
}

std::string link_to(const std::string& file) {
  return fmt::format("<a href=\"{}\">{}</a>", as_link(file), escape(file));
}

std::string joined_links(const std::vector<std::string>& files) {
  std::string text;
  for (const std::string& file : files) text += (text.empty() ? "" : ", ") + link_to(file);
  return text;
}

// "page 3 of the book", a link where the book is.
std::string book_link(const Lesson& lesson, const fs::path& out) {
  const fs::path page = fs::path(SEGUE_BOOK) / lesson.page;
  const std::string number = page.filename().string().substr(0, 2);
  const std::string text = "page " + number.substr(number[0] == '0') + " of the book";
  std::error_code error;
  const fs::path way = fs::relative(page, out, error);
  if (error || !fs::exists(page)) return text;
  return fmt::format("<a href=\"{}\">{}</a>", as_link(way), text);
}

void replace_once(std::string& text, const std::string& old, const std::string& better) {
  if (const std::size_t at = text.find(old); at != std::string::npos) text.replace(at, old.size(), better);
}

// The picture as a part of the page, so that its words can be found and selected. All pictures give their title and
// description the same two ids, which may stand only once on a page.
std::string picture(const std::string& file, const fs::path& out) {
  std::string svg = content(out / file);
  const std::size_t begin = svg.find("<desc id=\"desc\">"), end = svg.find("</desc>");
  const std::string words = begin < end && end != std::string::npos ? svg.substr(begin + 16, end - begin - 16) : "";
  const std::string id = file.substr(0, file.find('.'));
  replace_once(svg, "aria-labelledby=\"title desc\"", fmt::format("aria-labelledby=\"{0}-title {0}-desc\"", id));
  replace_once(svg, "id=\"title\"", fmt::format("id=\"{}-title\"", id));
  replace_once(svg, "id=\"desc\"", fmt::format("id=\"{}-desc\"", id));
  return fmt::format("<figure>\n<div>{}</div>\n<figcaption>{} {}</figcaption>\n</figure>\n", svg, words, link_to(file));
}

// What was printed. Charts made of characters show what the pictures show better, and are folded away.
std::string printed(const std::string& text) {
  std::vector<std::string> paragraphs(1);
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.empty()) paragraphs.emplace_back();
    if (!line.empty()) paragraphs.back() += escape(line) + "\n";
  }
  std::string html, plain;
  const auto close = [&] {
    if (!plain.empty()) html += "<pre tabindex=\"0\">" + plain + "</pre>\n";
    plain.clear();
  };
  for (const std::string& paragraph : paragraphs) {
    if (paragraph.find("┤") != std::string::npos) {
      close();
      html += fmt::format("<details><summary>On the terminal: {}</summary>\n<pre tabindex=\"0\">{}</pre></details>\n",
                          paragraph.substr(0, paragraph.find('\n')), paragraph);
    } else if (!paragraph.empty()) {
      plain += (plain.empty() ? "" : "\n") + paragraph;
    }
  }
  close();
  return html;
}

std::string outcome(const LessonRun& run) {
  switch (run.state) {
    case RunState::waiting:
      return "has not run";
    case RunState::running:
      return "still running";
    case RunState::failed:
      return "<span class=\"failed\">failed</span>";
    case RunState::interrupted:
      return "interrupted after " + short_duration(run.seconds);
    default:
      return short_duration(run.seconds);
  }
}

std::string section(const LessonRun& run, const fs::path& out) {
  const Lesson& lesson = run.lesson;
  std::string html =
      fmt::format("<section id=\"{0}\">\n<h2>{1}</h2>\n<p class=\"facts\"><code>{0}</code> · {2} · {3}</p>\n",
                  escape(lesson.name), question_as_html(lesson.question), outcome(run), book_link(lesson, out));
  const bool ran = run.state != RunState::waiting && run.state != RunState::running;
  if (run.state == RunState::failed) html += fmt::format("<p class=\"failed\">{}</p>\n", escape(run.complaint));
  std::vector<std::string> others;
  for (const std::string& file : ran ? files_of(run, out) : std::vector<std::string>()) {
    if (!file.ends_with(".svg")) others.push_back(file);
    if (file.ends_with(".svg")) html += picture(file, out);
  }
  if (ran) html += printed(content(out / (lesson.name + ".txt")));
  html += fmt::format("<p>The command: <code>{}</code></p>\n", escape(as_typed(run.command)));
  for (const char* const kept : {".txt", "_progress.txt"}) {
    if (ran && !content(out / (lesson.name + kept)).empty()) others.push_back(lesson.name + kept);
  }
  if (!others.empty()) html += fmt::format("<p>Its files: {}.</p>\n", joined_links(others));
  return html + "</section>\n";
}

std::string summary(const std::vector<LessonRun>& runs, double seconds) {
  const auto count = [&](RunState state) {
    return std::count_if(runs.begin(), runs.end(), [=](const LessonRun& run) { return run.state == state; });
  };
  double cpu_seconds = 0;
  for (const LessonRun& run : runs) cpu_seconds += run.cpu_seconds;
  std::string text =
      fmt::format("{} of {} ran to the end, in {} together and with {} of processor time.", count(RunState::done),
                  runs.size(), short_duration(seconds), short_duration(cpu_seconds));
  std::string failed;
  for (const std::string& name : names_of_failed(runs)) {
    failed += fmt::format("{}<a href=\"#{}\">{}</a>", failed.empty() ? "" : ", ", escape(name), escape(name));
  }
  if (!failed.empty()) text += " <span class=\"failed\">What failed:</span> " + failed + ".";
  return text;
}

}  // namespace

std::string question_as_html(const std::string& text) {
  std::string html;
  bool inside = false;
  for (const char c : escape(text)) {
    if (c == '`') inside = !inside;
    html += c != '`' ? std::string(1, c) : inside ? "<code>" : "</code>";
  }
  return html + (inside ? "</code>" : "");
}

std::string short_duration(double seconds) {
  if (seconds < 0.995) return fmt::format("{:.2f} s", seconds);
  return seconds < 9.95 ? fmt::format("{:.1f} s", seconds) : duration(seconds);
}

std::string as_typed(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) {
    const auto harmless = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string("_-+=:,./@%").find(c) != std::string::npos;
    };
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), harmless);
    std::string quoted;
    for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
    text += (text.empty() ? "" : " ") + (plain ? word : "'" + quoted + "'");
  }
  return text;
}

std::vector<std::string> names_of_failed(const std::vector<LessonRun>& runs) {
  std::vector<std::string> names;
  for (const LessonRun& run : runs) {
    if (run.state == RunState::failed) names.push_back(run.lesson.name);
  }
  return names;
}

std::string lesson_page(const std::vector<LessonRun>& runs, double seconds, const fs::path& out) {
  std::string contents, sections;
  for (const LessonRun& run : runs) {
    contents += fmt::format("<li><a href=\"#{0}\">{1}</a> <span class=\"facts\"><code>{0}</code>, {2}</span></li>\n",
                            escape(run.lesson.name), question_as_html(run.lesson.question), outcome(run));
    sections += section(run, out);
  }
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>The lessons of segue</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n"
      "<h1>The lessons of segue</h1>\n<p>Each lesson asks a question. Here is what every one of them drew and printed "
      "on "
      "this machine, in the order in which they are read. {}</p>\n<nav aria-label=\"Lessons\">\n<ol>\n{}</ol>\n</nav>\n"
      "{}</main>\n</body>\n</html>\n",
      page_style, summary(runs, seconds), contents, sections);
}

}  // namespace segue
