#include "xl/tools/memory_check.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/support/tiny_models.hpp"

namespace segue::xl_memory_check_test {

namespace {

constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();
constexpr Real infinity = std::numeric_limits<Real>::infinity();

void plant(Memory& memory, std::size_t n, std::initializer_list<Index> where, Real value) {
  Tensor(memory.layers[n].value()).set_in_place(where, value);
}

double norm_of(const Memory& memory, std::size_t n, Index b, Index position) {
  double squares = 0;
  for (const Real x : memory.layers[n].value().narrow(0, b, 1).narrow(1, position, 1).to_vector()) {
    squares += static_cast<double>(x) * static_cast<double>(x);
  }
  return std::sqrt(squares);
}

}  // namespace

TEST_CASE("A check finds each state with a NaN, an infinity or a large number, and where it is") {
  Memory memory = random_memory(tiny_config(), 3, 5, 5);
  CHECK(check_memory(memory).empty());
  plant(memory, 1, {2, 4, 3}, -infinity);
  plant(memory, 0, {1, 3, 2}, nan);
  plant(memory, 0, {1, 3, 0}, 5000);  // the NaN of the same state counts
  plant(memory, 0, {2, 0, 1}, -1001);
  plant(memory, 0, {2, 0, 3}, 1000.5);
  plant(memory, 1, {0, 0, 0}, 1000);  // not above the limit
  const std::vector<MemoryFinding> found = check_memory(memory);
  REQUIRE(found.size() == 3);
  CHECK(to_string(found[0]) == "layer 0, row 1, position 3: component 2 is nan");
  CHECK(to_string(found[1]) == "layer 0, row 2, position 0: component 1 is -1001");
  CHECK(to_string(found[2]) == "layer 1, row 2, position 4: component 3 is -inf");
  CHECK(check_memory(memory, infinity).size() == 2);
  CHECK(check_memory(memory, 999).size() == 4);
  CHECK(check_memory(memory, 0).size() == 2 * 3 * 5);
}

TEST_CASE("What a reset has hidden is never found") {
  Memory memory = random_memory(tiny_config(), 2, 4, 4);
  plant(memory, 0, {1, 2, 0}, nan);
  plant(memory, 1, {1, 0, 0}, infinity);
  CHECK(check_memory(memory).size() == 2);
  CHECK(check_memory(reset_rows(memory, {1})).empty());
}

TEST_CASE("A memory without positions, rows apart by strides, and a limit that is none") {
  CHECK(check_memory(empty_memory(tiny_config(), 2, 4)).empty());
  CHECK(check_memory(Memory()).empty());
  Memory memory = random_memory(tiny_config(), 2, 3, 3);
  for (Variable& layer : memory.layers) layer = Variable(random_tensor({3, 2, 4}).transpose(0, 1));  // a view
  plant(memory, 1, {0, 2, 1}, nan);
  REQUIRE(check_memory(memory).size() == 1);
  CHECK(to_string(check_memory(memory)[0]) == "layer 1, row 0, position 2: component 1 is nan");
  for (const Real bad : {nan, Real(-1)}) {
    CHECK(holds(message_of<ValueError>([&] { check_memory(memory, bad); }), "not a number from 0 on"));
  }
  memory.layers[1] = Variable(Tensor::zeros({2, 2, 4}));
  CHECK(holds(message_of<ShapeError>([&] { check_memory(memory); }), "[2, 2, 4] beside one of [2, 3, 4]"));
}

TEST_CASE("Findings are told in lines, the first ten and how many more") {
  Memory memory = random_memory(tiny_config(), 2, 8, 8);
  CHECK(to_text(check_memory(memory)) == "nothing found\n");
  for (const Index position : {0, 1, 2, 3, 4, 5}) {
    plant(memory, 0, {0, position, 0}, nan);
    plant(memory, 1, {1, position, 0}, 2000);
  }
  const std::string text = to_text(check_memory(memory));
  CHECK(holds(text, "layer 0, row 0, position 0: component 0 is nan\nlayer 0, row 0, position 1"));
  CHECK(holds(text, "position 3: component 0 is 2000\nand 2 more\n"));
}

TEST_CASE("A state above the norm is scaled to it, its direction kept; every other state keeps its bits") {
  Memory memory = random_memory(tiny_config(), 2, 3, 3);  // norms up to 2
  for (const Index d : {0, 1, 2, 3}) plant(memory, 0, {1, 2, d}, static_cast<Real>(d + 1));
  plant(memory, 0, {0, 0, 1}, -Real(0.0));
  const Memory stable = stabilise(memory, 2);
  CHECK(norm_of(memory, 0, 1, 2) > 5);
  CHECK(std::abs(norm_of(stable, 0, 1, 2) - 2) < rounding);
  const Tensor before = memory.layers[0].value(), after = stable.layers[0].value();
  const double factor = 2 / std::sqrt(30.0);
  for_each_position(before.shape(), [&](const Position& p) {
    if (p[0] == 1 && p[1] == 2) {
      CHECK(std::abs(static_cast<double>(element(after, p)) - factor * static_cast<double>(p[2] + 1)) < rounding);
    } else {
      CHECK(same_bits(after.narrow(0, p[0], 1).narrow(1, p[1], 1), before.narrow(0, p[0], 1).narrow(1, p[1], 1)));
    }
  });
  CHECK(stable.layers[1].value().storage() == memory.layers[1].value().storage());
  CHECK(stable.tokens_read == memory.tokens_read);
  CHECK(stable.limit == memory.limit);
  CHECK(same_bits(stabilise(stable, 2).layers[0].value(), after));  // once is enough
  CHECK(stabilise(stable, 2).layers[0].value().storage() == after.storage());
}

TEST_CASE("Stabilising once is enough, for any state") {
  const Random seed(17);
  Random random = seed;
  Memory memory = empty_memory(tiny_config(), 1, 500);
  for (Variable& layer : memory.layers) layer = Variable(random.normal({1, 500, 4}, 0, 30));
  memory.tokens_read = {500};
  for (const Real limit : {Real(1e-3), Real(0.7), Real(3), Real(1e5)}) {
    const Memory once = stabilise(memory, limit), twice = stabilise(once, limit);
    for (std::size_t n = 0; n < 2; ++n) {
      CHECK(twice.layers[n].value().storage() == once.layers[n].value().storage());
      double largest = 0;
      for (const Index position : {0, 1, 100, 499}) largest = std::max(largest, norm_of(once, n, 0, position));
      CHECK(largest <= static_cast<double>(limit) * (1 + rounding));
    }
  }
}

TEST_CASE("States without a norm are left alone, huge and tiny ones are not a problem") {
  Memory memory = random_memory(tiny_config(), 1, 4, 4);
  plant(memory, 0, {0, 0, 1}, nan);
  plant(memory, 0, {0, 1, 2}, infinity);
  const Real huge = std::numeric_limits<Real>::max();
  for (const Index d : {0, 1, 2, 3}) plant(memory, 0, {0, 2, d}, huge);  // squares and norm overflow
  for (const Index d : {0, 1, 2, 3}) plant(memory, 0, {0, 3, d}, std::numeric_limits<Real>::denorm_min());
  const Memory stable = stabilise(memory, 100);
  const auto state = [](const Memory& m, Index position) { return m.layers[0].value().narrow(1, position, 1); };
  for (const Index position : {0, 1, 3}) CHECK(same_bits(state(stable, position), state(memory, position)));
  CHECK(std::abs(norm_of(stable, 0, 0, 2) - 100) < 1e-3);
  CHECK(check_memory(stable).size() == 2);
  CHECK(stabilise(reset_rows(memory, {0}), 1).length() == 0);
}

TEST_CASE("Stabilising passes a history on where there is one, and takes no limit that is not above 0") {
  Memory memory = random_memory(tiny_config(), 1, 2, 2);
  memory.layers[0] = scale(parameter(memory.layers[0].value()), 10);
  CHECK(stabilise(memory, 1).layers[0].needs_gradient());
  CHECK_FALSE(stabilise(memory, Real(0.1)).layers[1].needs_gradient());
  for (const Real bad : {Real(0), Real(-1), nan}) {
    CHECK(holds(message_of<ValueError>([&] { stabilise(memory, bad); }), "is not above 0"));
  }
  CHECK(stabilise(empty_memory(tiny_config(), 2, 4), 1).length() == 0);
}

}  // namespace segue::xl_memory_check_test
