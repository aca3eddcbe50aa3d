// What the tests of tasks that ask questions share: an oracle that counts instead of thinking.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "xl/tasks/questions.hpp"

namespace segue {

/// A question and how likely the task draws it.
struct PossibleQuestion {
  Question question;
  double probability;
};

struct Best {
  double accuracy, loss;
};
/// The best that whoever sees the last token and `reach` before it can do: what is seen alike is put together, and the
/// answers that go with it are counted.
inline Best counted_best(const std::vector<PossibleQuestion>& all, Index reach) {
  std::map<std::vector<Index>, std::map<Index, double>> answers;  // what is seen -> how likely each answer is
  for (const auto& [question, probability] : all) {
    const Index first = std::max(Index(0), static_cast<Index>(question.tokens.size()) - 1 - reach);
    answers[{question.tokens.begin() + first, question.tokens.end()}][question.answer] += probability;
  }
  Best best = {0, 0};
  for (const auto& [seen, chances] : answers) {
    double total = 0, likeliest = 0;
    for (const auto& [answer, chance] : chances) {
      total += chance;
      likeliest = std::max(likeliest, chance);
    }
    best.accuracy += likeliest;
    for (const auto& [answer, chance] : chances) best.loss -= chance * std::log(chance / total);
  }
  return best;
}

/// All texts of `length` symbols first .. first+count-1.
inline std::vector<std::vector<Index>> all_texts(Index length, Index first, Index count) {
  std::vector<std::vector<Index>> texts = {{}};
  for (Index n = 0; n < length; ++n) {
    std::vector<std::vector<Index>> longer;
    for (const std::vector<Index>& text : texts) {
      for (Index symbol = first; symbol < first + count; ++symbol) {
        longer.push_back(text);
        longer.back().push_back(symbol);
      }
    }
    texts = longer;
  }
  return texts;
}

}  // namespace segue
