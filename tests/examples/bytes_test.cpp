#include "examples/support/bytes.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace segue::examples_bytes_test {

namespace {

std::string printed(const std::string& bytes) {
  PrintableText text;
  std::string all;
  for (const Index byte : to_bytes(bytes)) all += text.next(byte);
  return all;
}

}  // namespace

TEST_CASE("text passes, in letters of one to four bytes, with its line breaks and tabs") {
  for (const std::string text :
       {"", "plain\ttext,\nlines ~", "M − T ≤ K, größer, Ж, 漢字", "\xF0\x9F\x8E\xB5\xF4\x8F\xBF\xBF"}) {
    CHECK(printed(text) == text);
  }
}

TEST_CASE("no control character reaches the terminal, however it is spelt") {
  CHECK(printed("\x1b[2J") == "?[2J");
  CHECK(printed(std::string("a\0b\r\x7f\b", 6)) == "a?b???");
  CHECK(printed("\x9bK") == "?K");      // the same sequence on an old terminal
  CHECK(printed("\xC2\x9bK") == "?K");  // and on a new one
  CHECK(printed("\xC2\x80|\xC2\x9f|\xC2\xa0") == "?|?|\xC2\xa0");
  CHECK(printed("\xC0\x9b|\xE0\x80\x9b") == "??|?");  // longer than it need be
}

TEST_CASE("what is no UTF-8 becomes question marks, and what follows is read as if it were not there") {
  CHECK(printed("\xE2\x88z") == "?z");  // the last byte is missing
  CHECK(printed("\xE2\xE2\x88\x92") == "?−");
  CHECK(printed("\xE2\x88") == "");                                 // not yet complete
  CHECK(printed("\x80\xBF\xFF\xFEz") == "????z");                   // no first byte
  CHECK(printed("\xED\xA0\x80|\xF4\x90\x80\x80|\xF5") == "?|?|?");  // a surrogate, too large, far too large
  for (Index first = 0; first < 256; ++first) {
    PrintableText text;
    text.next(first);
    const std::string after = text.next('z');
    CHECK(after.back() == 'z');
  }
}

TEST_CASE("a file is read to its last byte, whatever its bytes and its size") {
  const auto path = std::filesystem::temp_directory_path() / ("segue_bytes_" + std::to_string(::getpid()));
  for (const std::size_t size : {0u, 1u, 65535u, 65536u, 65537u}) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * i / 7);
    std::ofstream(path, std::ios::binary) << text;
    CHECK(read_bytes(path) == to_bytes(text));
  }
  std::filesystem::remove(path);
}

TEST_CASE("a file that is not there, and a folder, are errors that name the path") {
  CHECK_THROWS_AS(read_bytes("no/such/file"), FileError);
  CHECK_THROWS_AS(read_bytes("."), FileError);
}

}  // namespace segue::examples_bytes_test
