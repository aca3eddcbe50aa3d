#include "examples/support/lesson.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "examples/support/interrupt.hpp"

namespace segue {
namespace {

bool asks_for_help(const std::string& word) {
  return word == "--help" || word == "-help" || word == "help" || word == "-h";
}

}  // namespace

int run_lesson(const Arguments& arguments, int argc, const char* const* argv, const std::function<void()>& story) {
  const auto complain = [&](const char* what, int status) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: %s\n", arguments.program().c_str(), what);
    return status;
  };
  try {
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    if (std::any_of(words.begin(), words.end(), asks_for_help)) {
      fmt::print("{}", arguments.help());
    } else {
      arguments.parse(words);
      catch_interrupts();
      story();
    }
    if (std::fflush(stdout) != 0) return complain("cannot write to stdout", 1);
    return interrupted() ? 130 : 0;
  } catch (const ArgumentError& error) {
    return complain(error.what(), 2);
  } catch (const std::bad_alloc&) {
    return complain("not enough memory for these settings", 1);
  } catch (const std::exception& error) {
    return complain(error.what(), 1);
  }
}

}  // namespace segue
