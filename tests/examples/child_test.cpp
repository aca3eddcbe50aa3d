#include "examples/support/child.hpp"

#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/support/folder.hpp"

namespace segue::examples_child_test {

namespace {

ChildEnd wait_for(Child child) {
  while (true) {
    if (const auto end = end_of(child)) return *end;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

TEST_CASE("a child gets its words as they are, and its two streams go to two files") {
  const Folder folder;
  const Child child =
      start_child({"sh", "-c", "printf '%s|' \"$@\"; echo bad >&2; exit 3", "sh", "a b", "$HOME", "'", ""},
                  folder.path / "output", folder.path / "errors");
  const ChildEnd end = wait_for(child);
  CHECK(end.status == 3);
  CHECK(end.signal == 0);
  CHECK(content(folder.path / "output") == "a b|$HOME|'||");
  CHECK(content(folder.path / "errors") == "bad\n");
}

TEST_CASE("a child finds its input empty") {
  const Folder folder;
  CHECK(wait_for(start_child({"cat"}, folder.path / "output", folder.path / "errors")).status == 0);
  CHECK(content(folder.path / "output") == "");
}

TEST_CASE("a child that is killed says by what, and one that worked says how long") {
  const Folder folder;
  CHECK(wait_for(start_child({"sh", "-c", "kill -9 $$"}, folder.path / "o", folder.path / "e")).signal == SIGKILL);
  const char* const work = "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done";
  CHECK(wait_for(start_child({"sh", "-c", work}, folder.path / "o", folder.path / "e")).cpu_seconds > 0);
}

TEST_CASE("an interrupt reaches a running child") {
  const Folder folder;
  const Child child = start_child({"sleep", "60"}, folder.path / "output", folder.path / "errors");
  CHECK_FALSE(end_of(child));
  interrupt(child);
  CHECK(wait_for(child).signal == SIGINT);
}

TEST_CASE("a program that does not exist and a file that cannot be written are errors") {
  const Folder folder;
  CHECK_THROWS_WITH_AS(start_child({"/nowhere/program"}, folder.path / "output", folder.path / "errors"),
                       doctest::Contains("cannot run /nowhere/program: No such file"), FileError);
  CHECK_THROWS_AS(start_child({"true"}, folder.path / "none" / "output", folder.path / "errors"), FileError);
}

}  // namespace segue::examples_child_test
