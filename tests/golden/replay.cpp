// replay FILE...: replays recorded runs of the original and prints the largest difference of each kind. Exit status 1
// when one is above 1e-9, 2 when a file cannot be replayed.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "golden.hpp"

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: replay FILE...\n");
    return 2;
  }
  int status = 0;
  for (int i = 1; i < argc; ++i) {
    try {
      fmt::print("{}\n", argv[i]);
      for (const auto& [kind, difference] : segue::replay(argv[i])) {
        fmt::print("  {:<9} {:.1e}\n", kind, difference);
        if (!(difference <= 1e-9) && status == 0) status = 1;
      }
    } catch (const std::exception& error) {
      fmt::print(stderr, "replay: {}\n", error.what());
      status = 2;
    }
  }
  if (std::fflush(stdout) != 0) {
    fmt::print(stderr, "replay: cannot write to stdout\n");
    status = 2;
  }
  return status;
}
