#include "xl/streams.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <numeric>
#include <set>

#include "nn/loss.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::xl_streams_test {

namespace {

// 0, 1, 2, ..: each token tells its place.
std::vector<Index> counting(Index size) {
  std::vector<Index> text(static_cast<std::size_t>(size));
  std::iota(text.begin(), text.end(), 0);
  return text;
}

}  // namespace

TEST_CASE("Row b of a batch continues row b of the one before, and a target is the token after its input") {
  for (const Tail tail : {Tail::drop, Tail::keep}) {
    for (Index size = 2; size < 40; ++size) {
      for (const Index B : {1, 2, 3}) {
        for (const Index T : {1, 2, 4}) {
          if (tail == Tail::drop && size < B * T + 1) continue;
          CAPTURE(size);
          CAPTURE(B);
          CAPTURE(T);
          Streams streams(counting(size), B, T, tail);
          std::vector<Index> last(static_cast<std::size_t>(B), -1);
          for (Index s = 0; s < streams.segments(); ++s) {
            const Batch batch = streams.next();
            const Index length = batch.inputs.shape[1];
            CHECK(batch.targets.shape == batch.inputs.shape);
            CHECK((tail == Tail::drop || s + 1 < streams.segments() ? length == T : length >= 1));
            for (Index b = 0; b < B; ++b) {
              for (Index i = 0; i < length; ++i) {
                const Index input = batch.inputs[b * length + i], target = batch.targets[b * length + i];
                Index& before = last[static_cast<std::size_t>(b)];
                if (target == ignored_target) {
                  before = -2;  // this row has ended
                  continue;
                }
                CHECK(before != -2);
                CHECK(target == input + 1);
                if (before >= 0) CHECK(input == before + 1);
                before = input;
              }
            }
          }
        }
      }
    }
  }
}

TEST_CASE("Kept, every token but the first is a target exactly once; dropped, at most once") {
  for (Index size = 2; size < 60; ++size) {
    for (const Index B : {1, 2, 3, 7}) {
      for (const Index T : {1, 3, 8, 100}) {
        for (const Tail tail : {Tail::keep, Tail::drop}) {
          if (tail == Tail::drop && size < B * T + 1) continue;
          Streams streams(counting(size), B, T, tail);
          std::multiset<Index> targets;
          for (Index s = 0; s < streams.segments(); ++s) {
            for (const Index target : streams.next().targets.ids) {
              if (target != ignored_target) targets.insert(target);
            }
          }
          const std::set<Index> different(targets.begin(), targets.end());
          CHECK(different.size() == targets.size());
          if (tail == Tail::keep) CHECK(static_cast<Index>(targets.size()) == size - 1);
          if (tail == Tail::drop) CHECK(static_cast<Index>(targets.size()) == (size - 1) / B / T * B * T);
        }
      }
    }
  }
}

TEST_CASE("After the last segment comes the first again, with all rows reset") {
  Streams streams(counting(20), 3, 2, Tail::drop);  // 6 tokens a row
  CHECK(streams.segments() == 3);
  for (int round = 0; round < 3; ++round) {
    for (Index s = 0; s < 3; ++s) {
      CHECK(streams.position() == s);
      const Batch batch = streams.next();
      CHECK(batch.resets == (s == 0 ? std::vector<Index>{0, 1, 2} : std::vector<Index>{}));
      CHECK(batch.inputs.ids == std::vector<Index>{2 * s, 2 * s + 1, 6 + 2 * s, 7 + 2 * s, 12 + 2 * s, 13 + 2 * s});
    }
  }
}

TEST_CASE("A stream taken up at a position goes on as the one that stopped there") {
  Streams streams(counting(50), 2, 3, Tail::keep);
  for (Index s = 0; s < streams.segments(); ++s) {
    Streams again(counting(50), 2, 3, Tail::keep);
    again.seek(s);
    const Batch a = streams.next(), b = again.next();
    CHECK(a.inputs == b.inputs);
    CHECK(a.targets == b.targets);
    CHECK(a.resets == b.resets);
  }
  CHECK(holds(thrown_by<RangeError>([&] { streams.seek(streams.segments()); }), "outside 0 .. 8"));
  CHECK_THROWS_AS(streams.seek(-1), RangeError);
}

TEST_CASE("A text too short for one batch is an error with both lengths") {
  const auto error = [](Index size, Index B, Index T, Tail tail) {
    return thrown_by<ValueError>([&] { Streams(counting(size), B, T, tail); });
  };
  const std::string message = error(24, 3, 8, Tail::drop);
  CHECK(holds(message, "at least 25"));
  CHECK(holds(message, "has 24"));
  CHECK(error(25, 3, 8, Tail::drop).empty());
  for (const Index size : {0, 1}) {
    CHECK(holds(error(size, 3, 8, Tail::keep), "at least 2"));
    CHECK(holds(error(size, 3, 8, Tail::keep), "has " + std::to_string(size)));
  }
  CHECK(error(2, 3, 8, Tail::keep).empty());
  CHECK(holds(error(9, 0, 8, Tail::keep), "0 rows of 8"));
  CHECK(holds(error(9, 3, -1, Tail::keep), "3 rows of -1"));
  constexpr Index huge = std::numeric_limits<Index>::max();
  for (const Tail tail : {Tail::drop, Tail::keep}) {
    CHECK_FALSE(error(9, huge, huge, tail).empty());
    CHECK_FALSE(error(9, huge, 1, tail).empty());
  }
}

}  // namespace segue::xl_streams_test
