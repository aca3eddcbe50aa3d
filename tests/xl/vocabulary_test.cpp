#include "xl/tools/vocabulary.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/tensors.hpp"

namespace segue::xl_vocabulary_test {

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

Words words_of(std::string_view text) {
  Words words;
  for_each_word(text, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

// A file that is gone behind the test.
struct TemporaryFile {
  ~TemporaryFile() { fs::remove(path); }
  void write(const std::string& text) const { std::ofstream(path, std::ios::binary) << text; }
  std::string read() const {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  fs::path path = fs::temp_directory_path() / ("segue_vocabulary_" + std::to_string(::getpid()));
};

const std::string text = "the cat saw the dog\n the  dog\tran \n";

}  // namespace

TEST_CASE("A text is split at white space, and a line break is a word") {
  CHECK(words_of(text) == Words{"the", "cat", "saw", "the", "dog", "<eos>", "the", "dog", "ran", "<eos>"});
  CHECK(words_of("").empty());
  CHECK(words_of(" \t\r\f\v").empty());
  CHECK(words_of("\n\n") == Words{"<eos>", "<eos>"});
  CHECK(words_of("a\r\nb") == Words{"a", "<eos>", "b"});
  CHECK(words_of("gr\u00fc\u00dfe \u20ac") == Words{"gr\u00fc\u00dfe", "\u20ac"});
}

TEST_CASE("The most frequent words come first, equal ones in the order of their bytes") {
  CHECK(build_vocabulary(text).words == Words{"<unk>", "the", "<eos>", "dog", "cat", "ran", "saw"});
  CHECK(build_vocabulary(text, 2).words == Words{"<unk>", "the", "<eos>", "dog"});
  CHECK(build_vocabulary(text, 1, 5).words == Words{"<unk>", "the", "<eos>", "dog", "cat"});
  CHECK(build_vocabulary(text, 3, 5).words == Words{"<unk>", "the"});
  CHECK(build_vocabulary(text, 1, 1).words == Words{"<unk>"});
  CHECK(build_vocabulary("").words == Words{"<unk>"});
  CHECK(build_vocabulary("a <unk> <unk> b <unk>").words == Words{"<unk>", "a", "b"});
}

TEST_CASE("A text becomes tokens, unknown words <unk>, and comes back with single spaces") {
  const Vocabulary vocabulary = build_vocabulary(text, 2);
  const std::vector<Index> tokens = {1, 0, 0, 1, 3, 2, 1, 3, 0, 2};
  CHECK(encode(vocabulary, text) == tokens);
  CHECK(decode(vocabulary, tokens) == "the <unk> <unk> the dog\nthe dog <unk>\n");
  CHECK(decode(build_vocabulary(text), encode(build_vocabulary(text), text)) == "the cat saw the dog\nthe dog ran\n");
  CHECK(encode(vocabulary, "").empty());
  CHECK(decode(vocabulary, {}).empty());
}

TEST_CASE("Any tokens come back as they were") {
  const Vocabulary vocabulary = build_vocabulary(text);
  Random random(4);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<Index> tokens(static_cast<std::size_t>(random.below(12)));
    for (Index& token : tokens) token = random.below(vocabulary.size());
    CHECK(encode(vocabulary, decode(vocabulary, tokens)) == tokens);
  }
}

TEST_CASE("A vocabulary is written as one word a line and read back") {
  const TemporaryFile file;
  const Vocabulary vocabulary = build_vocabulary(text + "gr\u00fc\u00dfe");
  save_vocabulary(file.path, vocabulary);
  CHECK(file.read() == "<unk>\nthe\n<eos>\ndog\ncat\ngr\u00fc\u00dfe\nran\nsaw\n");
  CHECK(load_vocabulary(file.path).words == vocabulary.words);
  CHECK(load_vocabulary(file.path).token("dog") == 3);
  CHECK(vocabulary_beside("run/model.safetensors") == "run/model.vocabulary.txt");
}

TEST_CASE("A file that is no vocabulary is an error that says why") {
  const TemporaryFile file;
  const auto message = [&](const std::string& content) {
    file.write(content);
    try {
      load_vocabulary(file.path);
    } catch (const FileError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  CHECK(holds(message(""), "expected <unk> as the first word, got none"));
  CHECK(holds(message("the\n<unk>\n"), "expected <unk> as the first word, got the"));
  CHECK(holds(message("<unk>\nthe\ncat"), "ends inside a line"));
  CHECK(holds(message("<unk>\n\nthe\n"), "word 1 is empty"));
  CHECK(holds(message("<unk>\nthe cat\n"), "holds white space"));
  CHECK(holds(message("<unk>\r\nthe\r\n"), "expected <unk>"));
  CHECK(holds(message("<unk>\nthe\ncat\nthe\n"), "word 3 stands there a second time: the"));
  CHECK_THROWS_AS(load_vocabulary(fs::temp_directory_path()), FileError);
  CHECK_THROWS_AS(load_vocabulary("/nothing/here"), FileError);
  CHECK_THROWS_AS(save_vocabulary("/nothing/here", build_vocabulary("a")), FileError);
}

TEST_CASE("Counts, sizes and tokens without sense are errors") {
  CHECK_THROWS_AS(build_vocabulary(text, 0), ValueError);
  CHECK_THROWS_AS(build_vocabulary(text, 1, -1), ValueError);
  CHECK_THROWS_AS(Vocabulary({}), ValueError);
  const Vocabulary vocabulary = build_vocabulary(text);
  CHECK_THROWS_AS(decode(vocabulary, {-1}), RangeError);
  CHECK_THROWS_AS(decode(vocabulary, {vocabulary.size()}), RangeError);
}

TEST_CASE("Vocabularies of other words, another order or other ends of words have other fingerprints") {
  const auto of = [](std::vector<std::string> words) { return fingerprint(Vocabulary(std::move(words))); };
  CHECK(of({"<unk>", "ab", "c"}) == of({"<unk>", "ab", "c"}));
  CHECK(of({"<unk>", "ab", "c"}).size() == 16);
  CHECK(of({"<unk>", "ab", "c"}) != of({"<unk>", "c", "ab"}));
  CHECK(of({"<unk>", "ab", "c"}) != of({"<unk>", "a", "bc"}));
  CHECK(of({"<unk>", "ab", "c"}) != of({"<unk>", "ab"}));
}

}  // namespace segue::xl_vocabulary_test
