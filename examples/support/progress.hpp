// How far a long loop has come, and how long it still takes.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

#include "tensor/real.hpp"

namespace segue {

/// One line, rewritten in place on a terminal; elsewhere a plain line at each quarter of the way. Goes to stderr, so
/// that stdout holds only results.
class Progress {
 public:
  Progress(std::string name, Index total, std::FILE* stream = stderr);
  /// Ends the line, leaving what it last said.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` of `total` steps are done; `text` says how it goes, such as "loss 1.234".
  void update(Index done, const std::string& text = "");

 private:
  void rewrite();

  std::string name_;
  Index total_;
  std::FILE* stream_;
  bool terminal_;  // whether lines can be rewritten
  std::chrono::steady_clock::time_point start_, last_write_{};
  Index quarters_ = 0;        // of the way that have been reported, off a terminal
  std::string line_, shown_;  // the newest line, and the one on the screen
};

/// "training 150/600  loss 1.234  12 s left".
std::string progress_line(const std::string& name, Index done, Index total, const std::string& text, double seconds);

/// "12 s", "3 min 5 s" or "1 h 12 min".
std::string duration(double seconds);

}  // namespace segue
