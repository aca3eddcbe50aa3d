#include "xl/tasks/story.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "tests/support/random_inputs.hpp"
#include "tests/support/task_rows.hpp"

namespace segue::xl_story_test {

namespace {

std::vector<Index> tokens_of(const std::string& text) {
  std::vector<Index> tokens;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    tokens.push_back(std::find(story_words().begin(), story_words().end(), word) - story_words().begin());
  }
  return tokens;
}

std::vector<TaskRow> written(Index B, Index T, Index segments, std::uint64_t seed = 2) {
  Random random(seed);
  TaskRows source = story_rows(B, T, segments, random);
  return next_rows(source, segments);
}

const std::string opening = "once mia of rome had a drum . ";

}  // namespace

TEST_CASE("Words are all different and come back from their tokens") {
  const std::set<std::string> different(story_words().begin(), story_words().end());
  CHECK(different.size() == story_words().size());
  CHECK(story_text(tokens_of(opening + "then mia slept .")) == opening + "then mia slept .");
  CHECK(story_text({}) == "");
}

TEST_CASE("A story agrees with itself, and its targets and distances are what a reader finds") {
  for (const TaskRow& row : written(3, 50, 20)) {
    const StoryReading reading = read_story(row.tokens);
    CHECK(reading.sentences > 200);
    CHECK(reading.well_formed == reading.sentences);
    std::vector<Index> distances(row.tokens.size(), -1);
    for (const StoryMention& mention : reading.mentions) {
      CHECK(mention.repeats);
      CHECK(mention.true_to_opening);
      distances[static_cast<std::size_t>(mention.place) - 1] = mention.distance;
    }
    distances.back() = row.distances.back();  // its target is in no row
    CHECK(row.distances == distances);
    CHECK(std::equal(row.tokens.begin() + 1, row.tokens.end(), row.targets.begin()));
  }
}

TEST_CASE("Half of the sentences bring back a fact, one as often as the other, and all values are as likely") {
  const std::vector<TaskRow> rows = written(800, 50, 4, 5);
  std::map<Index, double> values;           // of the openings
  std::map<std::string, double> sentences;  // by their first word, which is another in each
  double all = 0;
  for (const TaskRow& row : rows) {
    for (const std::size_t place : {1u, 3u, 6u}) ++values[row.tokens[place]];
    for (std::size_t t = 8; t < row.tokens.size(); ++t) {
      if (story_text({row.tokens[t - 1]}) == ".") ++sentences[story_text({row.tokens[t]})], ++all;
    }
  }
  CHECK(values.size() == story_facts * story_values);
  for (const auto& [value, count] : values) CHECK(count == doctest::Approx(100).epsilon(0.5));  // five deviations
  CHECK(sentences.size() == 9);
  for (const std::string word : {"then", "people", "again"}) {
    CHECK(sentences[word] / all == doctest::Approx(story_return / story_facts).epsilon(0.05));
  }
  for (const std::string word : {"it", "one", "birds", "snow", "night", "wind"}) {
    CHECK(sentences[word] / all == doctest::Approx((1 - story_return) / 6).epsilon(0.05));
  }
}

TEST_CASE("A reader counts distances from the word that predicts, and holds each fact against its last mention") {
  const StoryReading reading =
      read_story(tokens_of(opening + "then mia slept . people in oslo danced . birds flew . people in oslo danced . "
                                     "people in rome danced . again the drum slept . then ben"));
  const std::vector<Index> places = {9, 14, 22, 27, 32, 36}, distances = {7, 10, 7, 4, 25, 26};
  const std::vector<Index> facts = {0, 1, 1, 1, 2, 0};
  const std::vector<bool> agree = {true, false, true, false, true, false};
  const std::vector<bool> as_opened = {true, false, false, true, true, false};
  REQUIRE(reading.mentions.size() == 6);
  for (std::size_t n = 0; n < 6; ++n) {
    CHECK(reading.mentions[n].place == places[n]);
    CHECK(reading.mentions[n].distance == distances[n]);
    CHECK(reading.mentions[n].fact == facts[n]);
    CHECK(reading.mentions[n].repeats == agree[n]);
    CHECK(reading.mentions[n].true_to_opening == as_opened[n]);
  }
  CHECK(reading.sentences == 6);    // the last one has no end
  CHECK(reading.well_formed == 4);  // birds flew soon, drums do not sleep
}

TEST_CASE("The same seed gives the same stories, wherever they are cut") {
  CHECK(same_rows(written(3, 5, 8), written(3, 5, 8)));
  CHECK(same_rows(written(3, 5, 8), written(3, 40, 1)));
  CHECK_FALSE(same_rows(written(3, 5, 8), written(3, 5, 8, 3)));
}

TEST_CASE("What is no story is an error that says why") {
  CHECK(holds(message_of<ValueError>([] { read_story(tokens_of("once mia of rome")); }), "no opening of a story"));
  CHECK(holds(message_of<ValueError>([] { read_story({}); }), "no opening of a story"));
  CHECK(holds(message_of<ValueError>([] { read_story(tokens_of("once rome of mia had a drum .")); }), "once rome of"));
  CHECK_THROWS_AS(story_text({static_cast<Index>(story_words().size())}), RangeError);
  CHECK_THROWS_AS(read_story({-1}), RangeError);
  Random random(1);
  CHECK_THROWS_AS(story_rows(0, 4, 3, random), ValueError);
}

}  // namespace segue::xl_story_test
