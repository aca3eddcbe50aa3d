#include "xl/tasks/toy_world.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <set>

#include "tests/support/tiny_models.hpp"

namespace segue::xl_toy_world_test {

TEST_CASE("Words become tokens and words again, whatever their capitals and punctuation") {
  CHECK(toy_text(toy_tokens("Where is the key?")) == "where is the key");
  CHECK(toy_text(toy_tokens("  \"hello\",\thow are you ... ")) == "hello how are you");
  CHECK(toy_tokens(" ?! ").empty());
  CHECK(toy_text({}) == "");
  std::set<std::string> words(toy_words().begin(), toy_words().end());
  CHECK(words.size() == toy_words().size());
  const TurnMarks marks = toy_marks();
  CHECK(toy_text({marks.you, marks.me, marks.end}) == "<you> <me> <end>");
  for (const char* mark : {"<me>", "<end>"}) {
    const std::string what = mark;  // cannot be typed: "<end>" is the word "end", which is unknown
    CHECK_THROWS_AS(toy_tokens(what), ValueError);
  }
}

TEST_CASE("An unknown word is an error that names the known ones, and so is a token that is no word") {
  const std::string message = message_of<ValueError>([&] { toy_tokens("where is the spoon"); });
  CHECK(holds(message, "no word \"spoon\""));
  CHECK(holds(message, " key "));
  CHECK_FALSE(holds(message, "<you>"));
  CHECK(holds(message_of<RangeError>([&] { toy_text({static_cast<Index>(toy_words().size())}); }), "words 0 .."));
  CHECK_THROWS_AS(toy_text({-1}), RangeError);
}

TEST_CASE("An answer is what was mentioned last, exactly its distance before the token that predicts it") {
  Random random(3);
  ToyTalk talk(60);
  std::vector<Index> text;
  Index questions = 0, farthest = 0;
  for (int n = 0; n < 2000; ++n) {
    const Exchange exchange = talk.next(random);
    const TurnMarks marks = toy_marks();
    text.push_back(marks.you);
    text.insert(text.end(), exchange.said.begin(), exchange.said.end());
    text.insert(text.end(), {marks.end, marks.me});
    const Index reply = static_cast<Index>(text.size());
    text.insert(text.end(), exchange.reply.begin(), exchange.reply.end());
    text.push_back(marks.end);
    CHECK((exchange.answer < 0) == (exchange.distance < 0));
    if (exchange.answer < 0) continue;
    const Index place = reply + exchange.answer, source = place - 1 - exchange.distance;
    CHECK(text[static_cast<std::size_t>(source)] == text[static_cast<std::size_t>(place)]);
    for (Index t = source + 1; t < place; ++t) {
      CHECK(text[static_cast<std::size_t>(t)] != text[static_cast<std::size_t>(place)]);
    }
    ++questions;
    farthest = std::max(farthest, exchange.distance);
  }
  CHECK(questions > 500);
  CHECK(farthest <= 60);
  CHECK(farthest > 50);
}

TEST_CASE("Values are as likely as one another, so that who guesses is right once in toy_values times") {
  Random random(5);
  std::vector<Index> counts(toy_words().size(), 0);
  Index told = 0;
  ToyTalk talk(12);  // soon forgotten, so that facts are told anew all the time
  for (int n = 0; n < 20000; ++n) {
    const Exchange exchange = talk.next(random);
    const std::vector<Index> name = toy_tokens("my name is ann");
    if (exchange.said.size() != 4 || exchange.said[1] != name[1] || exchange.said[0] != name[0]) continue;
    ++counts[static_cast<std::size_t>(exchange.said[3])];
    ++told;
  }
  Index values = 0;
  double statistic = 0;
  const double wanted = static_cast<double>(told) / static_cast<double>(toy_values);
  for (const Index count : counts) {
    values += count > 0 ? 1 : 0;
    if (count > 0) statistic += (static_cast<double>(count) - wanted) * (static_cast<double>(count) - wanted) / wanted;
  }
  CHECK(told > 500);
  CHECK(values == toy_values);
  CHECK(statistic < 40);  // 7 degrees of freedom: chance passes 40 once in a million
}

TEST_CASE("A batch continues the one before, its targets are the replies' next tokens, and rows begin anew together") {
  Random random(4);
  ToyWorld world(50, 3, 8, 5, random);
  for (int dialogue = 0; dialogue < 3; ++dialogue) {
    std::vector<std::vector<Index>> inputs(3), targets(3);
    for (int segment = 0; segment < 5; ++segment) {
      const Batch batch = world.next();
      CHECK(batch.resets == (segment == 0 ? std::vector<Index>{0, 1, 2} : std::vector<Index>{}));
      for (Index k = 0; k < 24; ++k) {
        inputs[static_cast<std::size_t>(k / 8)].push_back(batch.inputs[k]);
        targets[static_cast<std::size_t>(k / 8)].push_back(batch.targets[k]);
        if (world.distances()[k] >= 0) CHECK(batch.targets[k] >= 3);
      }
    }
    for (std::size_t b = 0; b < 3; ++b) {
      bool replying = false;
      CHECK(inputs[b][0] == toy_marks().you);
      for (std::size_t t = 0; t < 40; ++t) {
        if (inputs[b][t] == toy_marks().me) replying = true;
        if (inputs[b][t] == toy_marks().you) replying = false;
        const bool ended = t > 0 && inputs[b][t] == toy_marks().end && replying;
        if (ended) replying = false;
        CHECK((targets[b][t] != ignored_target) == replying);
        if (replying && t + 1 < 40) CHECK(targets[b][t] == inputs[b][t + 1]);
      }
    }
  }
}

TEST_CASE("Recall puts every question, and one who knows nothing is right by chance") {
  Config config = tiny_config();
  config.vocabulary = static_cast<Index>(toy_words().size());
  const TransformerXL model = random_model(config);
  Random one(8), same(8);
  ToyWorld world(50, 16, 8, 10, one), twin(50, 16, 8, 10, same);
  const std::vector<Recall> questions = recall(model, world, 20, 16);
  std::vector<Index> distances;
  for (int n = 0; n < 20; ++n) {
    twin.next();
    for (const Index distance : twin.distances().ids) {
      if (distance >= 0) distances.push_back(distance);
    }
  }
  REQUIRE(questions.size() == distances.size());
  Index right = 0;
  for (std::size_t k = 0; k < questions.size(); ++k) {
    CHECK(questions[k].distance == distances[k]);
    right += questions[k].right ? 1 : 0;
  }
  CHECK(static_cast<double>(right) < 0.3 * static_cast<double>(questions.size()));
}

TEST_CASE("A length below 1 or beyond all use is an error") {
  Random random(1);
  constexpr Index huge = std::numeric_limits<Index>::max();
  CHECK(holds(message_of<ValueError>([&] { ToyWorld(0, 2, 4, 2, random); }), "distance 0"));
  CHECK_THROWS_AS(ToyWorld(9, 0, 4, 2, random), ValueError);
  CHECK_THROWS_AS(ToyWorld(9, 2, 0, 2, random), ValueError);
  CHECK_THROWS_AS(ToyWorld(9, 2, 4, 0, random), ValueError);
  CHECK_THROWS_AS(ToyWorld(9, 2, huge, huge, random), ValueError);
  CHECK_THROWS_AS(ToyTalk(0), ValueError);
}

}  // namespace segue::xl_toy_world_test
