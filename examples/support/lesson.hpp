// What the main() of every lesson does around its story.
#pragma once

#include <functional>

#include "examples/support/arguments.hpp"

namespace segue {

/// Parses the command line, runs `story`, and gives the exit status for main() to return: 0 when all went well or
/// --help (or -h, or help) was asked for, 2 for an ArgumentError, 1 for any other exception (each with one line on
/// stderr), and 130, the shells' number for Ctrl-C, when the story ended because of an interrupt.
int run_lesson(const Arguments& arguments, int argc, const char* const* argv, const std::function<void()>& story);

}  // namespace segue
