#include "xl/tasks/questions.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "nn/schedule.hpp"
#include "tests/support/tiny_models.hpp"
#include "xl/tasks/gap_recall.hpp"
#include "xl/training.hpp"

namespace segue::xl_questions_test {

namespace {

QuestionSource gaps_up_to(Index longest) {
  return gap_recall_questions({.keys = 3, .noise = 3, .shortest = 0, .longest = longest});
}

// The questions of each row as the batches show them: what stands between a reset and the target.
std::vector<std::vector<Question>> questions_seen(QuestionRows& rows, Index B, Index T, int batches) {
  std::vector<std::vector<Question>> seen(static_cast<std::size_t>(B));
  std::vector<std::vector<Index>> open(static_cast<std::size_t>(B));
  std::vector<bool> answered(static_cast<std::size_t>(B), true);
  for (int n = 0; n < batches; ++n) {
    const Batch batch = rows.next();
    REQUIRE(batch.inputs.shape == Shape{B, T});
    REQUIRE(batch.targets.shape == Shape{B, T});
    std::vector<Index> resets;
    for (Index b = 0; b < B; ++b) {
      const auto row = static_cast<std::size_t>(b);
      if (answered[row]) {
        resets.push_back(b);
        open[row].clear();
        answered[row] = false;
      }
      for (Index i = 0; i < T; ++i) {
        const Index token = batch.inputs[b * T + i], target = batch.targets[b * T + i];
        if (answered[row]) {  // behind the query: more of it, and nothing to be learned
          CHECK(token == open[row].back());
          CHECK(target == ignored_target);
          continue;
        }
        open[row].push_back(token);
        if (target == ignored_target) continue;
        answered[row] = true;
        seen[row].push_back({open[row], target});
      }
    }
    CHECK(batch.resets == resets);
  }
  return seen;
}

// Accuracy the slow way: each question alone, in one segment.
double share_answered_alone(const TransformerXL& model, const QuestionSource& draw, Index count, Random& random) {
  Index right = 0;
  for (Index n = 0; n < count; ++n) {
    const Question question = draw(random);
    const Index L = static_cast<Index>(question.tokens.size());
    const Tensor logits = logits_in_pieces(model, Tokens({1, L}, question.tokens), {L}, 0);
    Index best = 0;
    for (Index v = 1; v < logits.dim(2); ++v) {
      if (logits.at({0, L - 1, v}) > logits.at({0, L - 1, best})) best = v;
    }
    right += best == question.answer ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(count);
}

}  // namespace

TEST_CASE("Each question begins a segment and resets its row; its only target is the answer at its last token") {
  const QuestionSource draw = gaps_up_to(11);
  for (const Index T : {1, 4, 5, 13, 20}) {
    Random random(7);
    QuestionRows rows(draw, 3, T, random);
    for (const auto& row : questions_seen(rows, 3, T, 40)) {
      REQUIRE(row.size() >= 3);
      for (const Question& question : row) {
        CHECK(question.answer == question.tokens.front());
        CHECK(question.tokens.back() == 6);
      }
    }
  }
}

TEST_CASE("A row asks the same questions from the same seed, whatever T cuts them and however many rows there are") {
  const QuestionSource draw = gaps_up_to(11);
  Random one(4), other(4), third(5);
  QuestionRows a(draw, 2, 4, one), b(draw, 3, 7, other), c(draw, 2, 4, third);
  const auto x = questions_seen(a, 2, 4, 60), y = questions_seen(b, 3, 7, 60), z = questions_seen(c, 2, 4, 60);
  const auto same = [](const std::vector<Question>& p, const std::vector<Question>& q) {
    for (std::size_t n = 0; n < 10; ++n) {
      if (p.at(n).tokens != q.at(n).tokens || p.at(n).answer != q.at(n).answer) return false;
    }
    return true;
  };
  CHECK(same(x[0], y[0]));
  CHECK(same(x[1], y[1]));
  CHECK_FALSE(same(x[0], x[1]));
  CHECK_FALSE(same(x[0], z[0]));
}

TEST_CASE("The share answered is that of each question alone in one segment, whatever cuts and batches it") {
  const QuestionSource draw = gaps_up_to(9);
  const TransformerXL model = random_model(tiny_config());
  Random alone(8);
  const double wanted = share_answered_alone(model, draw, 200, alone);
  CHECK(wanted > 0.1);
  CHECK(wanted < 0.6);
  for (const auto& [batch, T] : {std::pair<Index, Index>{200, 4}, {7, 3}, {1, 11}, {64, 1}}) {
    Random random(8);
    CHECK(share_answered(model, draw, 200, batch, T, 11, random) == wanted);
  }
}

TEST_CASE("A model that always says the same is right once in `keys` times, and one that says NaN never") {
  Config config = tiny_config();
  TransformerXL model = random_model(config);
  Tensor bias = Tensor::zeros({config.vocabulary});
  bias.data_in_place()[1] = 1000;
  model.output_bias.set_value(bias);
  Random random(9);
  const double chance = share_answered(model, gaps_up_to(3), 600, 100, 4, 5, random);
  CHECK(chance == doctest::Approx(1 / 3.0).epsilon(0.25));
  bias.data_in_place()[1] = std::numeric_limits<Real>::quiet_NaN();
  model.output_bias.set_value(bias);
  CHECK(share_answered(model, gaps_up_to(3), 50, 50, 4, 5, random) == 0);
}

TEST_CASE("A small model learns to recall a key from segments back, and then knows it across gaps it never met") {
  Config config = learner_config();
  config.vocabulary = 7;
  config.memory_length = 16;
  Random random(1);
  TransformerXL model(config, random);
  QuestionRows rows(gaps_up_to(12), 8, config.segment_length, random);
  Adam adam(parameters(model));
  TrainingState state = {0, empty_memory(config, 8, config.memory_length), Random(1)};
  TrainingOptions options;
  options.steps = 120;
  options.clip = 1;
  options.learning_rate = [](Index step) { return warm_up_cosine(step, 10, 120, Real(0.01)); };
  train(
      model, adam, state, [&] { return rows.next(); }, options);
  const auto share = [&](Index gap, Index M) {
    return share_answered(model, gap_recall_questions({.keys = 3, .noise = 3, .shortest = gap, .longest = gap}), 200,
                          50, config.segment_length, M, random);
  };
  CHECK(share(12, 16) > 0.95);
  CHECK(share(60, 64) > 0.9);
  CHECK(share(60, 16) < 0.5);  // two layers reach back 2 * 16 + 1 tokens and no further: chance, 1 in 3
}

TEST_CASE("Numbers below 1, questions without tokens and tokens the model does not know are errors") {
  constexpr Index huge = std::numeric_limits<Index>::max();
  const QuestionSource draw = gaps_up_to(3), nothing = [](Random&) { return Question{{}, 0}; };
  const TransformerXL model = random_model(tiny_config());
  Random random(1);
  CHECK(holds(message_of<ValueError>([&] { QuestionRows(draw, 0, 4, random); }), "rows 0"));
  CHECK_THROWS_AS(QuestionRows(draw, 2, 0, random), ValueError);
  CHECK_THROWS_AS(QuestionRows(draw, 2, huge, random), ValueError);
  QuestionRows rows(nothing, 2, 4, random);
  CHECK(holds(message_of<ValueError>([&] { rows.next(); }), "without tokens"));
  CHECK(holds(message_of<ValueError>([&] { share_answered(model, draw, 0, 1, 4, 8, random); }), "questions 0"));
  CHECK_THROWS_AS(share_answered(model, draw, 1, 0, 4, 8, random), ValueError);
  CHECK_THROWS_AS(share_answered(model, draw, 1, 1, 0, 8, random), ValueError);
  CHECK_THROWS_AS(share_answered(model, draw, 1, 1, 4, -1, random), ValueError);
  CHECK_THROWS_AS(share_answered(model, draw, huge, huge, 4, 8, random), ValueError);
  CHECK_THROWS_AS(share_answered(model, draw, 2, 1, huge, 8, random), ValueError);
  CHECK_THROWS_AS(share_answered(model, nothing, 1, 1, 4, 8, random), ValueError);
  const QuestionSource strange = gap_recall_questions({.keys = 8, .noise = 8});
  CHECK_THROWS_AS(share_answered(model, strange, 1, 1, 4, 8, random), RangeError);
}

}  // namespace segue::xl_questions_test
