// Plain or fast: whether an op runs as its formula reads, or through a kernel that gives the same
// result sooner.
//
// Whatever has a kernel has a plain twin beside it, and asks once, at its beginning, which of the
// two to run. Fast is the default. A debug build starts plain, and so does any program that finds
// SEGUE_PLAIN=1 in its environment, so that a debugger and a drawn graph show every step.
#pragma once

namespace segue {

/// True while ops run as their formulas. The answer is the same on all threads.
bool plain();

/// While one lives, ops run plain, or fast for PlainGuard(false). It holds for the whole program,
/// so only one thread should use guards at a time.
class PlainGuard {
 public:
  explicit PlainGuard(bool plain = true);
  ~PlainGuard();
  PlainGuard(const PlainGuard&) = delete;
  PlainGuard& operator=(const PlainGuard&) = delete;

 private:
  bool before_;
};

}  // namespace segue
