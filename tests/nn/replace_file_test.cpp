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

}  // namespace segue::nn_replace_file_test
