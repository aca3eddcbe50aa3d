#include "nn/tools/replace_file.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace segue::nn_replace_file_test {

namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void replace(const std::filesystem::path& path, const std::string& text) {
  replace_file(path, std::as_bytes(std::span(text)));
}

}  // namespace

TEST_CASE("Of several writers at once each succeeds, and a reader sees the file of one of them, whole") {
  const auto folder = std::filesystem::temp_directory_path() / ("segue_replace_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const auto path = folder / "file";
  const std::string short_text = "short", long_text(100'000, 'x');
  replace(path, short_text);
  const auto write = [&path](const std::string& text) {
    for (int k = 0; k < 20; ++k) replace(path, text);
  };
  std::thread one([&] { write(short_text); }), other([&] { write(long_text); });
  bool whole = true;
  for (int k = 0; k < 200; ++k) {
    const std::string read = content_of(path);
    whole = whole && (read == short_text || read == long_text);
  }
  one.join();
  other.join();
  CHECK(whole);
  CHECK(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()) == 1);
  std::filesystem::remove_all(folder);
}

TEST_CASE("A file is read whole, byte for byte; one that is missing, a folder or too long is an error that names it") {
  const auto folder = std::filesystem::temp_directory_path() / ("segue_read_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const auto path = folder / "file";
  const std::string bytes = std::string(200'000, 'x') + std::string("\0\r\n\xff", 4);
  replace(path, bytes);
  CHECK(read_file(path) == bytes);
  replace(path, "");
  CHECK(read_file(path).empty());
  CHECK_THROWS_AS(read_file(folder), FileError);
  CHECK_THROWS_AS(read_file(folder / "none"), FileError);
  CHECK_THROWS_WITH(read_file("/dev/zero"), doctest::Contains("/dev/zero has more than 268435456 bytes"));
  std::filesystem::remove_all(folder);
}

}  // namespace segue::nn_replace_file_test
