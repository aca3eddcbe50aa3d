#include "xl/tools/vocabulary.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "nn/tools/replace_file.hpp"
#include "tensor/fail.hpp"

namespace segue {
namespace {

constexpr std::string_view white_space = " \t\n\v\f\r";

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> all, Where where) : words(std::move(all)) {
  if (words.empty() || words[0] != unknown_word) {
    fail<ValueError>(where, "vocabulary: expected {} as the first word, got {}", unknown_word,
                     words.empty() ? "none" : words[0]);
  }
  for (const std::string& word : words) {
    const Index token = static_cast<Index>(tokens_.size());
    if (word.empty() || word.find_first_of(white_space) != std::string::npos) {
      fail<ValueError>(where, "vocabulary: word {} is empty or holds white space: \"{}\"", token,
                       word);
    }
    if (!tokens_.emplace(word, token).second) {
      fail<ValueError>(where, "vocabulary: word {} stands there a second time: {}", token, word);
    }
  }
}

Index Vocabulary::token(std::string_view word) const {
  const auto found = tokens_.find(std::string(word));
  return found == tokens_.end() ? 0 : found->second;
}

void for_each_word(std::string_view text, const std::function<void(std::string_view word)>& use) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    if (text[begin] == '\n') use(line_end);
    if (white_space.find(text[begin]) != std::string_view::npos) {
      ++begin;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(white_space, begin), text.size());
    use(text.substr(begin, end - begin));
    begin = end;
  }
}

Vocabulary build_vocabulary(std::string_view text, Index minimum_count, Index maximum_size,
                            Where where) {
  if (minimum_count < 1 || maximum_size < 0) {
    fail<ValueError>(where,
                     "vocabulary: expected a count from 1 and a size from 0 on, got {} and {}",
                     minimum_count, maximum_size);
  }
  std::unordered_map<std::string, Index> counts;
  for_each_word(text, [&](std::string_view word) { ++counts[std::string(word)]; });
  counts.erase(
      std::string(unknown_word));  // it has its place already, even where the text spells it out
  std::vector<std::pair<std::string, Index>> frequent;
  for (const auto& [word, count] : counts) {
    if (count >= minimum_count) frequent.emplace_back(word, count);
  }
  std::sort(frequent.begin(), frequent.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<std::string> words = {std::string(unknown_word)};
  for (const auto& [word, count] : frequent) {
    if (maximum_size > 0 && static_cast<Index>(words.size()) == maximum_size) break;
    words.push_back(word);
  }
  return Vocabulary(std::move(words), where);
}

std::vector<Index> encode(const Vocabulary& vocabulary, std::string_view text) {
  std::vector<Index> tokens;
  for_each_word(text, [&](std::string_view word) { tokens.push_back(vocabulary.token(word)); });
  return tokens;
}

std::string decode(const Vocabulary& vocabulary, const std::vector<Index>& tokens, Where where) {
  std::string text;
  for (const Index token : tokens) {
    if (token < 0 || token >= vocabulary.size()) {
      fail<RangeError>(where, "decode: token {} is outside 0 .. {}", token, vocabulary.size() - 1);
    }
    const std::string& word = vocabulary.words[static_cast<std::size_t>(token)];
    if (word != line_end && !text.empty() && text.back() != '\n') text += ' ';
    text += word == line_end ? "\n" : word;
  }
  return text;
}

void save_vocabulary(const std::filesystem::path& path, const Vocabulary& vocabulary, Where where) {
  std::string text;
  for (const std::string& word : vocabulary.words) text += word + '\n';
  replace_file(path, std::as_bytes(std::span(text)), where);
}

Vocabulary load_vocabulary(const std::filesystem::path& path, Where where) {
  const std::string text = read_file(path, where);
  if (!text.empty() && text.back() != '\n') {
    fail<FileError>(where, "the vocabulary {} ends inside a line", path.string());
  }
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  try {
    return Vocabulary(std::move(words), where);
  } catch (const ValueError& error) {
    throw FileError(path.string() + " is no vocabulary: " + error.what());
  }
}

std::string fingerprint(const Vocabulary& vocabulary) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, over the bytes of the file
  const auto add = [&](char byte) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  };
  for (const std::string& word : vocabulary.words) {
    for (const char byte : word) add(byte);
    add('\n');
  }
  return fmt::format("{:016x}", hash);
}

std::filesystem::path vocabulary_beside(std::filesystem::path checkpoint) {
  return checkpoint.replace_extension(".vocabulary.txt");
}

}  // namespace segue
