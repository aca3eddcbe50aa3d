// What all lessons found, as one page for a browser.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "examples/support/lesson_runs.hpp"

namespace segue {

/// HTML without scripts, complete in one file: each run in the order given, with its question, its pictures, what it
/// printed, the command that made it, and links to its files in `out` and to its page of the book. Those that have not
/// run yet, were interrupted or failed are shown, too. `seconds` is the time that all took together.
std::string lesson_page(const std::vector<LessonRun>& runs, double seconds, const std::filesystem::path& out);

/// A text that may hold `names` of code, as HTML.
std::string question_as_html(const std::string& text);

/// "0.03 s", "2.5 s", "12 s" or "3 min 5 s".
std::string short_duration(double seconds);

/// The command as one would type it, with quotes where a shell needs them.
std::string as_typed(const std::vector<std::string>& command);

/// Those that failed.
std::vector<std::string> names_of_failed(const std::vector<LessonRun>& runs);

}  // namespace segue
