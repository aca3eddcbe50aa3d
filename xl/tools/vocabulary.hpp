// Words as tokens: a text is split at white space, each word has a number, and rare ones share that
// of <unk>.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tensor/error.hpp"
#include "tensor/real.hpp"

namespace segue {

inline constexpr std::string_view unknown_word = "<unk>";  // token 0 of every vocabulary
inline constexpr std::string_view line_end = "<eos>";      // what a line break becomes

struct Vocabulary {
  /// Throws ValueError unless the first word is <unk> and all are different, not empty and without
  /// white space.
  explicit Vocabulary(std::vector<std::string> words, Where where = Where::current());

  Index size() const { return static_cast<Index>(words.size()); }
  /// The word's token; 0, that of <unk>, for a word that is not there.
  Index token(std::string_view word) const;

  std::vector<std::string> words;  // by token

 private:
  std::unordered_map<std::string, Index> tokens_;
};

/// Calls use(word) for each word of the text, in order: whatever stands between ASCII white space,
/// and <eos> for each line break, as the authors' code reads WikiText.
void for_each_word(std::string_view text, const std::function<void(std::string_view word)>& use);

/// The words that occur at least `minimum_count` times in the text, most frequent first and equally
/// frequent ones in the order of their bytes, behind <unk>; at most `maximum_size` words with it
/// (0: no limit). Throws ValueError unless minimum_count >= 1 and maximum_size is 0 or >= 1.
Vocabulary build_vocabulary(std::string_view text, Index minimum_count = 1, Index maximum_size = 0,
                            Where where = Where::current());

/// The tokens of a text.
std::vector<Index> encode(const Vocabulary& vocabulary, std::string_view text);

/// Words with single spaces between them; <eos> becomes a line break. Encoding it again gives the
/// same tokens. Throws RangeError for a token outside the vocabulary.
std::string decode(const Vocabulary& vocabulary, const std::vector<Index>& tokens,
                   Where where = Where::current());

/// One word a line, in the order of the tokens. The file has its old content or all of the new.
/// Throws FileError.
void save_vocabulary(const std::filesystem::path& path, const Vocabulary& vocabulary,
                     Where where = Where::current());

/// Throws FileError when the file cannot be read, is larger than 256 MiB, ends inside a line or is
/// no vocabulary.
Vocabulary load_vocabulary(const std::filesystem::path& path, Where where = Where::current());

/// 16 hexadecimal digits that tell vocabularies apart: other words, or another order, give others.
std::string fingerprint(const Vocabulary& vocabulary);

/// Where the vocabulary of a checkpoint is kept: run/model.safetensors -> run/model.vocabulary.txt.
std::filesystem::path vocabulary_beside(std::filesystem::path checkpoint);

}  // namespace segue
