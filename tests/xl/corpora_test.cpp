#include "xl/tools/corpora.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace segue::xl_corpora_test {

namespace {

namespace fs = std::filesystem;

// A folder that is gone behind the test.
struct TemporaryFolder {
  TemporaryFolder() { fs::create_directories(path); }
  ~TemporaryFolder() { fs::remove_all(path); }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return path / name;
  }
  fs::path path = fs::temp_directory_path() / ("segue_corpora_" + std::to_string(::getpid()));
};

}  // namespace

TEST_CASE("enwik8 and text8 of full size are split as everybody does, all else loses its last tenth") {
  for (const std::string name : {"enwik8", "text8"}) {
    const SplitSizes sizes = standard_split(name, 100'000'000);
    CHECK(sizes.training == 90'000'000);
    CHECK(sizes.validation == 5'000'000);
    CHECK(sizes.test == 5'000'000);
    CHECK(standard_split(name, 99'999'999).validation == 0);
  }
  CHECK(standard_split("enwik9", 100'000'000).validation == 0);
  for (const Index size : {0, 1, 9, 10, 25}) {
    const SplitSizes sizes = standard_split("book.txt", size);
    CHECK(sizes.test == size / 10);
    CHECK(sizes.training + sizes.test == size);
  }
}

TEST_CASE("A file is recognised by its name and size, and its parts lie behind one another") {
  const TemporaryFolder folder;
  const fs::path file = folder.write("enwik8", "");
  fs::resize_file(file, 100'000'000);  // a hole: it takes no room
  const Corpus corpus = recognise_corpus(file);
  CHECK(corpus.name == "enwik8");
  CHECK(corpus.training.begin == 0);
  CHECK(corpus.validation.begin == 90'000'000);
  CHECK(corpus.test.begin == 95'000'000);
  CHECK(corpus.test.size == 5'000'000);
  CHECK(read_stretch({corpus.test.file, corpus.test.begin, 3}) == std::string(3, '\0'));

  const Corpus text = recognise_corpus(folder.write("small", "0123456789abcdefghijXY"));
  CHECK(text.name == "text");
  CHECK(read_stretch(text.training) == "0123456789abcdefghij");
  CHECK(read_stretch(text.validation) == "");
  CHECK(read_stretch(text.test) == "XY");
}

TEST_CASE("The three files of WikiText are found from any of them") {
  const TemporaryFolder folder;
  folder.write("wiki.train.tokens", "train");
  folder.write("wiki.test.tokens", "a test");
  const Corpus without = recognise_corpus(folder.path / "wiki.test.tokens");
  CHECK(without.validation.size == 0);
  folder.write("wiki.valid.tokens", "valid");
  for (const std::string name : {"wiki.train.tokens", "wiki.valid.tokens", "wiki.test.tokens"}) {
    const Corpus corpus = recognise_corpus(folder.path / name);
    CHECK(corpus.name == "WikiText");
    CHECK(read_stretch(corpus.training) == "train");
    CHECK(read_stretch(corpus.validation) == "valid");
    CHECK(read_stretch(corpus.test) == "a test");
  }
}

TEST_CASE("A file that is not there, and bytes that it does not have, are errors") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(recognise_corpus(folder.path / "nothing"), FileError);
  CHECK_THROWS_AS(recognise_corpus(folder.path), FileError);
  CHECK_THROWS_AS(recognise_corpus("/dev/zero"), FileError);
  const fs::path file = folder.write("small", "12345");
  CHECK(read_stretch({file, 2, 3}) == "345");
  CHECK_THROWS_AS(read_stretch({file, 2, 4}), FileError);
  CHECK_THROWS_AS(read_stretch({file, 6, 1}), FileError);
  CHECK_THROWS_AS(read_stretch({file, -1, 1}), FileError);
  CHECK_THROWS_AS(read_stretch({file, 0, Index(1) << 60}), FileError);
  CHECK_THROWS_AS(read_stretch({folder.path / "nothing", 0, 1}), FileError);
}

}  // namespace segue::xl_corpora_test
