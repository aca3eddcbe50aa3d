// The relative shift, step by step on numbers one can check by hand, and what three ways to do it cost.
//
// Scores against distances come out of one matrix product, sorted by distance. Each row must move to its keys, and each
// by another number of places. One column of zeros and a change of shape do it for all rows at once.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "autograd/matmul.hpp"
#include "examples/support/chart.hpp"
#include "examples/support/interrupt.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "examples/support/terminal.hpp"
#include "tensor/indexing.hpp"
#include "tensor/parallel.hpp"
#include "tensor/random.hpp"
#include "xl/relative_shift.hpp"
#include "xl/tools/relative_shift_gather.hpp"

using namespace segue;

namespace {

struct Settings {
  Index segment_length = 3, memory_length = 2;
  std::vector<Index> sizes = {16, 64, 256};
  Index heads = 8, calls = 41;
  std::string out = "out";
};

// ---- What happens --------------------------------------------------------------------------------------------------

// Scores that tell where they come from: 24 is the second query against distance 4.
Tensor named_scores(Index T, Index K) {
  Tensor x = Tensor::zeros({T, K});
  for (Index i = 0; i < T; ++i) {
    for (Index c = 0; c < K; ++c) x.set_in_place({i, c}, static_cast<Real>(10 * (i + 1) + (K - 1 - c)));
  }
  return x;
}

// A score in the colour of its query, a zero in none.
std::string painted(Index score) {
  constexpr int colors[] = {33, 167, 178, 35, 134, 244};
  if (score == 0 || !wants_color(stdout)) return fmt::format("{}", score);
  return fmt::format("\x1b[38;5;{}m{}\x1b[0m", colors[(score / 10 - 1) % 6], score);
}

// Rows of a matrix; in the result, what has no distance stands in brackets.
void print_matrix(const Tensor& x, const std::string& row_name, bool result = false) {
  const Index rows = x.dim(0), width = x.dim(1);
  for (Index i = 0; i < rows; ++i) {
    fmt::print("  {:<8}", row_name.empty() ? "" : fmt::format("{} = {}", row_name, i));
    for (Index j = 0; j < width; ++j) {
      const Index score = static_cast<Index>(x.at({i, j}));
      const bool left_over = result && j > (width - rows) + i;  // j > M + i
      const std::string blanks(score < 10 ? 3 : score < 100 ? 2 : 1, ' ');
      fmt::print("{}{}{}{}", blanks, left_over ? "(" : " ", painted(score), left_over ? ")" : j + 1 < width ? " " : "");
    }
    fmt::print("\n");
  }
}

void print_numbers(const std::string& name, Index first, Index step, Index count) {
  fmt::print("  {:<8}", name);
  for (Index k = 0; k < count; ++k) fmt::print("{:>5}{}", first + step * k, k + 1 < count ? " " : "\n");
}

// Shows the steps of the trick, and returns what they lead to.
Tensor show_steps(const Tensor& x, Index T, Index K) {
  fmt::print("1. Scores by distance. Tens name the query (10 for i = 0, 20 for i = 1, ..), ones the distance.\n");
  print_numbers("distance", K - 1, -1, K);
  print_matrix(x, "i");
  const Tensor padded = concat({Tensor::zeros({T, 1}), x}, 1);  // [T, K] -> [T, K + 1]
  fmt::print("\n2. One column of zeros on the left: {} rows of {}.\n", T, K + 1);
  print_matrix(padded, "");
  const Tensor again = padded.reshape({K + 1, T});  // [T, K + 1] -> [K + 1, T]
  fmt::print("\n3. The same numbers in the same order, read in rows of T = {}.\n", T);
  print_matrix(again, "");
  const Tensor kept = again.narrow(0, 1, K);  // [K + 1, T] -> [K, T]
  fmt::print("\n4. The first row is dropped.\n");
  print_matrix(kept, "");
  const Tensor z = kept.reshape({T, K});  // [K, T] -> [T, K]
  fmt::print("\n5. Read in rows of K = {} again: scores by key. In brackets: left over, to be masked.\n", K);
  print_numbers("key j", 0, 1, K);
  print_matrix(z, "i", true);
  return z;
}

// Every visible cell beside the distance one works out by hand. Returns how many hold another score.
Index check_cells(const Tensor& z, Index T, Index M) {
  const Tensor expected = relative_shift_by_index(named_scores(T, M + T));
  Index wrong = 0;
  fmt::print("\nCell by cell: key j lies (M + i) - j before query i.\n");
  for (Index i = 0; i < T; ++i) {
    for (Index j = 0; j <= M + i; ++j) {
      const Index distance = (M + i) - j, score = static_cast<Index>(z.at({i, j}));
      const bool right = score == 10 * (i + 1) + distance && z.at({i, j}) == expected.at({i, j});
      wrong += right ? 0 : 1;
      fmt::print("  z[{}, {}] = {}   ({} + {}) - {} = distance {}{}\n", i, j, painted(score), M, i, j, distance,
                 right ? "" : "   WRONG");
    }
  }
  return wrong;
}

void show(const Settings& s) {
  const Index T = s.segment_length, M = s.memory_length, K = M + T;
  fmt::print("{} queries (T = {}) after a memory of {} (M = {}): {} keys.\n\n", T, T, M, M, K);
  const Tensor x = named_scores(T, K), z = show_steps(x, T, K);
  const Index wrong = check_cells(z, T, M), visible = T * M + T * (T + 1) / 2;
  const bool same = z.to_vector() == relative_shift(Variable(x)).value().to_vector();
  fmt::print("{} of {} visible cells hold the score of their distance, {} left over are for the mask.\n",
             visible - wrong, visible, T * K - visible);
  fmt::print("relative_shift of the library gives {}.\n\n", same ? "the same" : "SOMETHING ELSE");
}

// ---- What it costs --------------------------------------------------------------------------------------------------

// The median over many calls, after one to warm up.
double milliseconds(Index calls, const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  call();
  for (Index k = 0; k < calls && !(k > 0 && interrupted()); ++k) {
    const Clock::time_point start = Clock::now();
    call();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

constexpr Index head_width = 64;  // Dh of the matrix product

struct Times {
  double by_index, by_gather, trick, product;  // milliseconds per call
};

Times measure(const Settings& s, Index size) {
  const Index H = s.heads, T = size, K = 2 * size, Dh = head_width;
  Random random(1);
  const Variable q(random.uniform({H, T, Dh}, -1, 1)), r(random.uniform({H, Dh, K}, -1, 1));
  const Variable x = matmul(q, r);  // [H, T, K]
  const Tokens indices = relative_shift_indices(T, K);
  return {milliseconds(s.calls, [&] { relative_shift_by_index(x.value()); }),
          milliseconds(s.calls, [&] { relative_shift_by_gather(x, indices); }),
          milliseconds(s.calls, [&] { relative_shift(x); }), milliseconds(s.calls, [&] { matmul(q, r); })};
}

void compare(const Settings& s) {
  fmt::print(
      "Milliseconds per call for {} heads and M = T, on one thread, the median of {} calls.\n"
      "The product is the one that makes the scores, with heads of Dh = {}.\n\n"
      "   T     K   by index  by gather  pad, reshape   index/pad  gather/pad     product\n",
      s.heads, s.calls, head_width);
  Chart chart;
  chart.title = "The relative shift in three ways";
  chart.description = "Nanoseconds per score for the index formula, a gather, and pad-and-reshape, over T = M.";
  chart.x = {"segment length T, with M = T", "tokens"};
  chart.y = {"time per score", "ns"};
  chart.series = {{"by index", {}, {}}, {"by gather", {}, {}}, {"pad and reshape", {}, {}}};
  Table table({"T", "K", "heads", "by_index_ms", "by_gather_ms", "pad_and_reshape_ms", "matrix_product_ms"});
  for (const Index size : s.sizes) {
    if (interrupted()) break;
    const Times ms = measure(s, size);
    fmt::print("{:>4}  {:>4}   {:>8.3f}  {:>9.3f}  {:>12.3f}   {:>9.1f}  {:>10.1f}    {:>8.3f}\n", size, 2 * size,
               ms.by_index, ms.by_gather, ms.trick, ms.by_index / ms.trick, ms.by_gather / ms.trick, ms.product);
    table.add_row({size, 2 * size, s.heads, ms.by_index, ms.by_gather, ms.trick, ms.product});
    const double scores = static_cast<double>(s.heads * size * 2 * size), ns = 1e6 / scores;
    const double times[] = {ms.by_index * ns, ms.by_gather * ns, ms.trick * ns};
    for (std::size_t k = 0; k < 3; ++k) {
      chart.series[k].x.push_back(static_cast<double>(size));
      chart.series[k].y.push_back(times[k]);
    }
  }
  if (table.rows.empty()) return;  // interrupted before anything was timed
  fmt::print("\n");
  print(chart);
  write_csv(s.out + "/relative_shift.csv", table);
  write_svg(s.out + "/relative_shift.svg", chart);
  fmt::print("\nThe picture is in {0}/relative_shift.svg, the numbers are in {0}/relative_shift.csv.\n", s.out);
}

void tell(const Settings& s) {
  if (s.segment_length + s.memory_length > 10) {
    throw ArgumentError(
        fmt::format("segment_length and memory_length: expected at most 10 together, so that one digit "
                    "names a distance, got {} + {}",
                    s.segment_length, s.memory_length));
  }
  make_folder(s.out);
  set_thread_count(1);
  show(s);
  compare(s);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("relative_shift", "Shows the relative shift step by step, and times three ways to do it.");
  arguments.add("segment_length", s.segment_length, "queries T of the matrix that is shown", 1, 10);
  arguments.add("memory_length", s.memory_length, "memory M in front of them; T + M is at most 10", 0, 9);
  arguments.add("sizes", s.sizes, "values of T = M to time", 1, 1024);
  arguments.add("heads", s.heads, "heads H to time with", 1, 16);
  arguments.add("calls", s.calls, "calls to take the median of", 1, 1000);
  arguments.add("out", s.out, "folder for the picture and the numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
