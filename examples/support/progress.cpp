#include "examples/support/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "examples/support/terminal.hpp"

namespace segue {

using Clock = std::chrono::steady_clock;

std::string duration(double seconds) {
  const Index s = std::llround(std::clamp(seconds, 0.0, 1e9));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  return fmt::format("{} h {} min", s / 3600, s % 3600 / 60);
}

std::string progress_line(const std::string& name, Index done, Index total, const std::string& text, double seconds) {
  std::string line = fmt::format("{} {}/{}", name, done, total);
  if (!text.empty()) line += "  " + text;
  if (done >= total) return line + "  took " + duration(seconds);
  if (done <= 0) return line;
  return line + "  " + duration(seconds * static_cast<double>(total - done) / static_cast<double>(done)) + " left";
}

Progress::Progress(std::string name, Index total, std::FILE* stream)
    : name_(std::move(name)), total_(total), stream_(stream), terminal_(is_terminal(stream)), start_(Clock::now()) {}

Progress::~Progress() {
  if (!terminal_ || line_.empty()) return;
  if (line_ != shown_) rewrite();
  std::fputc('\n', stream_);
}

void Progress::update(Index done, const std::string& text) {
  const Clock::time_point now = Clock::now();
  line_ = progress_line(name_, done, total_, text, std::chrono::duration<double>(now - start_).count());
  if (terminal_) {
    if (now - last_write_ < std::chrono::milliseconds(100)) return;  // faster than the eye, and writing takes time
    last_write_ = now;
    rewrite();
  } else if (const Index quarters = total_ > 0 ? 4 * done / total_ : 4; quarters > quarters_) {
    quarters_ = quarters;
    std::fprintf(stream_, "%s\n", line_.c_str());
    std::fflush(stream_);
  }
}

// A line as wide as the terminal would wrap, and a wrapped line cannot be rewritten.
void Progress::rewrite() {
  shown_ = line_;
  std::string fitting = line_;
  while (columns(fitting) >= terminal_width(stream_)) fitting.pop_back();
  std::fprintf(stream_, "\r%s\x1b[K", fitting.c_str());
  std::fflush(stream_);
}

}  // namespace segue
