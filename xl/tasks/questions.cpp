#include "xl/tasks/questions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "nn/loss.hpp"
#include "tensor/fail.hpp"

namespace segue {
namespace {

constexpr Index most_in_segment = Index(1) << 30;  // so that products can be counted

// Tokens start .. start+T-1 of a question into row b; behind its end its last token again.
void write_segment(const Question& question, Index start, Index b, Tokens& inputs) {
  const Index T = inputs.shape[1], last = static_cast<Index>(question.tokens.size()) - 1;
  for (Index i = 0; i < T; ++i) {
    inputs[b * T + i] = question.tokens[static_cast<std::size_t>(std::min(start + i, last))];
  }
}

Question draw_question(const QuestionSource& draw, Random& random, Where where) {
  Question question = draw(random);
  if (question.tokens.empty())
    fail<ValueError>(where, "questions: a question without tokens; expected 1 or more");
  return question;
}

// -1 when there is a NaN, which no comparison would find.
Index likeliest_token(const std::vector<Real>& logits, Index place, Index V) {
  const auto row = logits.begin() + place * V;
  if (std::any_of(row, row + V, [](Real x) { return std::isnan(x); })) return -1;
  return std::max_element(row, row + V) - row;
}

// Right answers to questions that are read side by side; the shorter ones are filled up to the
// longest.
Index count_right(const LanguageModel& model, const std::vector<Question>& questions, Index T,
                  Index memory_length, Where where) {
  const Index B = static_cast<Index>(questions.size());
  Index longest = 0, right = 0;
  for (const Question& question : questions)
    longest = std::max(longest, static_cast<Index>(question.tokens.size()));
  Memory memory = empty_memory(model.config, B, memory_length, where);
  for (Index start = 0; start < longest; start += T) {
    Tokens inputs({B, T});
    for (Index b = 0; b < B; ++b)
      write_segment(questions[static_cast<std::size_t>(b)], start, b, inputs);
    const Output output = model(inputs, memory, Mode::evaluate(), where);
    memory = output.memory;
    const std::vector<Real> logits = output.logits.value().to_vector();  // [B, T, V]
    for (Index b = 0; b < B; ++b) {
      const Question& question = questions[static_cast<std::size_t>(b)];
      const Index i =
          static_cast<Index>(question.tokens.size()) - 1 - start;  // where the answer is due
      if (i < 0 || i >= T) continue;
      right += likeliest_token(logits, b * T + i, output.logits.dim(-1)) == question.answer ? 1 : 0;
    }
  }
  return right;
}

}  // namespace

QuestionRows::QuestionRows(QuestionSource draw, Index B, Index T, Random& random, Where where)
    : draw_(std::move(draw)), B_(B), T_(T) {
  if (std::min(B, T) < 1 || std::max(B, T) > most_in_segment) {
    fail<ValueError>(where, "questions: rows {} and segment {} must be in 1 .. {}", B, T,
                     most_in_segment);
  }
  for (Index b = 0; b < B; ++b) {
    rows_.push_back({Random(static_cast<std::uint64_t>(random.below(Index(1) << 62))), {}, 0});
  }
}

Batch QuestionRows::next(Where where) {
  Batch batch = {Tokens({B_, T_}), Tokens({B_, T_}), {}};
  std::fill(batch.targets.ids.begin(), batch.targets.ids.end(), ignored_target);
  for (Index b = 0; b < B_; ++b) {
    Row& row = rows_[static_cast<std::size_t>(b)];
    if (row.position >= static_cast<Index>(row.question.tokens.size())) {
      row.question = draw_question(draw_, row.random, where);
      row.position = 0;
      batch.resets.push_back(b);
    }
    write_segment(row.question, row.position, b, batch.inputs);
    const Index i = static_cast<Index>(row.question.tokens.size()) - 1 -
                    row.position;  // where the answer is due
    if (i < T_) batch.targets[b * T_ + i] = row.question.answer;
    row.position += T_;
  }
  return batch;
}

double share_answered(const LanguageModel& model, const QuestionSource& draw, Index count,
                      Index batch, Index T, Index memory_length, Random& random, Where where) {
  if (std::min({count, batch, T}) < 1 || std::max(batch, T) > most_in_segment) {
    fail<ValueError>(where,
                     "share_answered: questions {}, batch {} and segment {} must be 1 or more, the "
                     "last two at most {}",
                     count, batch, T, most_in_segment);
  }
  const NoGradientGuard no_gradient;
  Index right = 0;
  for (Index left = count; left > 0; left -= std::min(batch, left)) {
    std::vector<Question> questions;
    for (Index b = std::min(batch, left); b > 0; --b)
      questions.push_back(draw_question(draw, random, where));
    right += count_right(model, questions, T, memory_length, where);
  }
  return static_cast<double>(right) / static_cast<double>(count);
}

}  // namespace segue
