#include "xl/tasks/brackets.hpp"

#include <algorithm>
#include <cmath>

#include "tensor/fail.hpp"

namespace segue {
namespace {

void check_brackets(const Brackets& task, Where where) {
  constexpr Index most_kinds = Index(1) << 30;
  constexpr Index farthest = 1000;  // a chance of 2^-1000 is still a double
  if (task.kinds < 1 || task.kinds > most_kinds || task.depth < 1) {
    fail<ValueError>(where, "brackets: {} kinds nested {} deep are not possible", task.kinds,
                     task.depth);
  }
  if (task.distance < 0 || task.distance > farthest || task.distance % 2 != 0) {
    fail<ValueError>(where, "brackets: a distance is an even number in 0 .. {}, not {}", farthest,
                     task.distance);
  }
  if (task.depth == 1 && task.distance > 0) {
    fail<ValueError>(where, "brackets: {} tokens inside a pair need a depth of 2 or more",
                     task.distance);
  }
}

// The greatest height, in open pairs, that the inside of an outermost pair can have.
Index greatest_height(const Brackets& task) { return std::min(task.depth - 1, task.distance / 2); }

// [steps][height]: the chance that a fair walk from this height, up or down by 1 a step, is at 0
// after so many steps without having been below 0 or above `top`. It is also the chance of the way
// back, from 0 to this height.
using ReturnChances = std::vector<std::vector<double>>;
ReturnChances return_chances(Index steps, Index top) {
  const std::size_t width =
      static_cast<std::size_t>(top) + 2;  // nothing returns from above the top
  ReturnChances chances(static_cast<std::size_t>(steps) + 1, std::vector<double>(width, 0));
  chances[0][0] = 1;
  for (std::size_t n = 1; n < chances.size(); ++n) {
    for (std::size_t y = 0; y + 1 < width; ++y) {
      chances[n][y] = 0.5 * (chances[n - 1][y + 1] + (y > 0 ? chances[n - 1][y - 1] : 0));
    }
  }
  return chances;
}

struct OpenPair {
  Index kind, place;
};

void write_outermost_pair(TaskRow& row, const Brackets& task, const ReturnChances& chances,
                          Random& random) {
  std::vector<OpenPair> open;
  const auto put_open = [&] {
    open.push_back({random.below(task.kinds), static_cast<Index>(row.tokens.size())});
    row.write(open.back().kind);
  };
  const auto put_close = [&] {
    row.targets.back() = task.kinds + open.back().kind;
    row.distances.back() = static_cast<Index>(row.tokens.size()) - 1 - open.back().place;
    row.write(task.kinds + open.back().kind);
    open.pop_back();
  };
  put_open();
  for (auto left = static_cast<std::size_t>(task.distance); left > 0; --left) {
    const std::size_t height = open.size() - 1;
    if (random.uniform() * chances[left][height] < 0.5 * chances[left - 1][height + 1]) {
      put_open();
    } else {
      put_close();
    }
  }
  put_close();
}

// Of how many pairs inside an outermost one the insides have n tokens each, on average: [n].
std::vector<double> pairs_by_distance(const Brackets& task) {
  const auto D = static_cast<std::size_t>(task.distance);
  const Index top = greatest_height(task);
  const ReturnChances chances = return_chances(task.distance, top);
  std::vector<double> pairs(D + 1, 0);
  for (Index base = 0; base < top; ++base) {  // the height a pair stands on
    const auto y = static_cast<std::size_t>(base);
    const ReturnChances inside = return_chances(task.distance, top - base - 1);
    for (std::size_t n = 0; n + 2 <= D; n += 2) {
      double around = 0;  // up to the base before the pair, and down from it behind
      for (std::size_t before = y; before + n + 2 + y <= D; before += 2) {
        around += chances[before][y] * chances[D - n - 2 - before][y];
      }
      pairs[n] += 0.25 * around * inside[n][0] / chances[D][0];
    }
  }
  return pairs;
}

}  // namespace

TaskRows bracket_rows(const Brackets& task, Index B, Index T, Index segments, Random& random,
                      Where where) {
  check_brackets(task, where);
  const ReturnChances chances = return_chances(task.distance, greatest_height(task));
  const auto write_on = [task, chances, &random](TaskRow& row) {
    write_outermost_pair(row, task, chances, random);
  };
  return TaskRows(B, T, segments, write_on, where);
}

double bracket_best_loss(const Brackets& task, Index reach, Where where) {
  check_brackets(task, where);
  if (reach < 0) fail<ValueError>(where, "brackets: a reach of {} is below 0", reach);
  if (reach >= task.distance) return 0;
  double beyond = 1;  // the outermost pair
  const std::vector<double> pairs = pairs_by_distance(task);
  for (auto n = static_cast<std::size_t>(reach) + 1; n < pairs.size(); ++n) beyond += pairs[n];
  const double all = static_cast<double>(task.distance / 2 + 1);
  return beyond / all * std::log(static_cast<double>(task.kinds));
}

}  // namespace segue
