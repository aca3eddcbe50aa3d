// A program that runs beside this one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tensor/error.hpp"

namespace segue {

/// Its process; its group has the same number.
using Child = int;

/// How it ended.
struct ChildEnd {
  int status = 0;          // what its main() returned
  int signal = 0;          // what killed it, else 0
  double cpu_seconds = 0;  // of processor time that it took
};

/// Starts a program with its arguments, without a shell in between: no sign in them means anything. A program named
/// without a folder is looked for as a shell would. It reads nothing, writes into the two files, and hears no Ctrl-C
/// but that of `interrupt`. Throws FileError when it cannot be started.
Child start_child(const std::vector<std::string>& command, const std::filesystem::path& output,
                  const std::filesystem::path& errors, Where where = Where::current());

/// Nothing as long as it runs. Once it has ended, this may be asked no more.
std::optional<ChildEnd> end_of(Child child);

/// What Ctrl-C would do to it.
void interrupt(Child child);

}  // namespace segue
