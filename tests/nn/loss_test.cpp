#include "nn/loss.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "autograd/backward.hpp"
#include "autograd/softmax.hpp"
#include "autograd/tools/functions.hpp"
#include "tensor/elementwise.hpp"
#include "tensor/parallel.hpp"
#include "tensor/reduce.hpp"
#include "tensor/softmax.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::nn_loss_test {

namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();
constexpr Index none = ignored_target;

// The definition: minus the target's entry of log_softmax, 0 where the target is ignored.
Variable plain_cross_entropy(const Variable& logits, const Tokens& targets) {
  Tensor pick = Tensor::zeros({targets.size(), logits.dim(-1)});
  for (Index row = 0; row < targets.size(); ++row) {
    if (targets[row] != none) pick.set_in_place({row, targets[row]}, -1);
  }
  return sum(log_softmax(logits) * Variable(pick.reshape(logits.shape())), {-1});
}

Tensor loss_of(const Tensor& logits, const Tokens& targets) { return cross_entropy(Variable(logits), targets).value(); }

}  // namespace

TEST_CASE("Cross-entropy agrees with its definition, value and gradient, for any rank and strides") {
  const Tokens targets({3, 4}, {0, 6, none, 2, 1, 1, 5, none, none, 3, 4, 0});
  const Tensor losses = random_tensor({3, 4}, -1, 1, 2), flat = random_tensor({3, 4, 7}, -4, 4);
  for (const Tensor& x : {flat, random_tensor({7, 4, 3}, -4, 4).transpose(0, 2)}) {
    const Variable a = parameter(x), b = parameter(x);
    const Variable z = cross_entropy(a, targets), plain = plain_cross_entropy(b, targets);
    check_close(z.value(), plain.value());
    backward(z, losses);
    backward(plain, losses);
    check_close(a.gradient(), b.gradient());
  }
  check_close(loss_of(flat.reshape({12, 7}), Tokens({12}, targets.ids)), loss_of(flat, targets).reshape({12}));
  CHECK(to_string(loss_of(Tensor::zeros({5}), Tokens(Shape{}, {2})).shape()) == "[]");
}

TEST_CASE("Cross-entropy has the gradients of central differences, with ignored targets too") {
  const Tokens targets({2, 3}, {0, none, 4, 2, 1, none});
  check_gradients([&](const std::vector<Variable>& v) { return cross_entropy(v[0], targets); }, {{2, 3, 5}}, -3, 3);
  check_gradients([&](const std::vector<Variable>& v) { return mean_cross_entropy(v[0], targets).loss; }, {{2, 3, 5}});
}

TEST_CASE("The loss of logits [0.5, -1.25, 3, 0] and its gradient p - onehot have the known values") {
  const Tensor x({4}, {Real(0.5), Real(-1.25), 3, 0});
  const double tolerance = sizeof(Real) == 8 ? 1e-15 : 2e-7;
  const std::vector<double> losses = {2.63639654743377653905, 4.38639654743377653905, 0.13639654743377653905,
                                      3.13639654743377653905};
  const std::vector<double> p = {0.07161888037172126013, 0.01244549526769968471, 0.87249657760083878637,
                                 0.04343904675974026879};
  for (Index target = 0; target < 4; ++target) {
    const Variable logits = parameter(x);
    const Variable loss = cross_entropy(logits, Tokens(Shape{}, {target}));
    CHECK(loss.node().inputs.size() == 1);  // the graph is not cut
    check_close(loss.value(), Tensor::scalar(static_cast<Real>(losses[static_cast<std::size_t>(target)])), tolerance);
    backward(loss);
    Tensor expected({4}, {Real(p[0]), Real(p[1]), Real(p[2]), Real(p[3])});
    expected.set_in_place({target}, expected.at({target}) - 1);
    check_close(logits.gradient(), expected, tolerance);
  }
}

TEST_CASE("Equal logits cost log V, and one class costs nothing") {
  check_close(loss_of(Tensor::full({1, 50}, 3), Tokens({1}, {17})), Tensor({1}, {Real(3.912023005428146)}), 1e-6);
  const Variable x = parameter(Tensor({3, 1}, {5, -400, 0}));
  const Variable loss = cross_entropy(x, Tokens({3}, {0, 0, none}));
  CHECK(same_bits(loss.value(), Tensor::zeros({3})));
  backward(sum(loss));
  CHECK(same_bits(x.gradient(), Tensor::zeros({3, 1})));
}

TEST_CASE("Adding a constant to a row of logits changes nothing, however large it is") {
  Tensor x = Tensor::zeros({4, 9});
  Random random(4);
  for (Index i = 0; i < 36; ++i) x.set_in_place({i / 9, i % 9}, static_cast<Real>(random.below(128)) / 64);
  const Tokens targets({4}, {0, 8, 3, 3});
  for (const Real shift : {Real(1024), Real(-65536)}) {  // exact: the numbers are multiples of 1/64
    const Variable a = parameter(x), b = parameter(add(x, Tensor::scalar(shift)));
    const Variable loss = cross_entropy(a, targets), moved = cross_entropy(b, targets);
    CHECK(same_bits(loss.value(), moved.value()));
    backward(sum(loss));
    backward(sum(moved));
    CHECK(same_bits(a.gradient(), b.gradient()));
  }
}

TEST_CASE("Each row of the gradient sums to 0") {
  const Variable x = parameter(random_tensor({5, 30}, -8, 8));
  backward(sum(cross_entropy(x, Tokens({5}, {3, 29, 0, none, 7}))));
  check_close(sum(x.gradient(), {1}), Tensor::zeros({5}), sizeof(Real) == 8 ? 1e-14 : 1e-6);
}

TEST_CASE("The loss of far apart logits [-431, 279, 427] is 858 with the gradient [-1, 0, 1]") {
  const Variable x = parameter(Tensor({1, 3}, {-431, 279, 427}));
  const MeanLoss mean = mean_cross_entropy(x, Tokens({1}, {0}));
  CHECK(mean.loss.item() == 858);
  backward(mean.loss);
  CHECK(all_finite(x.gradient()));
  check_close(x.gradient(), Tensor({1, 3}, {-1, 0, 1}));
}

TEST_CASE("A certain prediction costs exactly 0, and a class of probability 0 has a finite loss and gradient") {
  CHECK(loss_of(Tensor({1, 2}, {-1000, 1000}), Tokens({1}, {1})).item() == 0);
  const Variable x = parameter(Tensor({1, 2}, {-1000, 1000}));
  const Variable loss = cross_entropy(x, Tokens({1}, {0}));
  CHECK(loss.value().to_vector() == std::vector<Real>{2000});
  backward(sum(loss));
  CHECK(x.gradient().to_vector() == std::vector<Real>{-1, 1});
}

TEST_CASE("A hidden class at minus infinity has no gradient and does not touch the loss of the others") {
  const Variable x = parameter(Tensor({1, 3}, {1, -infinity, 2}));
  const Variable loss = cross_entropy(x, Tokens({1}, {0}));
  check_close(loss.value(), loss_of(Tensor({1, 2}, {1, 2}), Tokens({1}, {0})));
  backward(sum(loss));
  CHECK(x.gradient().at({0, 1}) == 0);
  CHECK(all_finite(x.gradient()));
}

TEST_CASE("The mean counts kept targets only") {
  const Tensor logits = random_tensor({2, 3, 4});
  const Tokens targets({2, 3}, {none, 2, none, none, 0, 3});
  CHECK(count_targets(targets) == 3);
  const Variable x = parameter(logits), y = parameter(logits);
  const MeanLoss mean = mean_cross_entropy(x, targets);
  CHECK(mean.count == 3);
  const Variable third = scale(sum(cross_entropy(y, targets)), 1 / Real(3));
  check_close(mean.loss.value(), third.value());
  backward(mean.loss);
  backward(third);
  check_close(x.gradient(), y.gradient());
  for (const Index t : {0, 2}) {
    CHECK(same_bits(x.gradient().narrow(0, 0, 1).narrow(1, t, 1), Tensor::zeros({1, 1, 4})));
  }
}

TEST_CASE("The mean over no kept target is 0 with zero gradient and a count of 0") {
  for (const Index rows : {5, 0}) {
    const Variable x = parameter(random_tensor({rows, 4}));
    const MeanLoss mean =
        mean_cross_entropy(x, Tokens({rows}, std::vector<Index>(static_cast<std::size_t>(rows), none)));
    CHECK(mean.count == 0);
    CHECK(mean.loss.item() == 0);
    backward(mean.loss);
    CHECK(same_bits(x.gradient(), Tensor::zeros({rows, 4})));
  }
}

TEST_CASE("An ignored row may hold NaN: neither its loss nor its gradient shows it") {
  const Variable x = parameter(Tensor({2, 2}, {std::numeric_limits<Real>::quiet_NaN(), 1, 2, 3}));
  const MeanLoss mean = mean_cross_entropy(x, Tokens({2}, {none, 0}));
  check_close(mean.loss.value(), Tensor::scalar(Real(1.3132616875182228)), 1e-6);
  backward(mean.loss);
  CHECK(all_finite(x.gradient()));
}

TEST_CASE("Micro-batches of 1 and 3 kept targets, summed and divided by 4, equal one big batch") {
  const Tensor logits = random_tensor({2, 3, 5}, -2, 2);
  const Tokens targets({2, 3}, {none, 4, none, 0, 1, 2});
  const Variable whole = parameter(logits), parts = parameter(logits);
  const MeanLoss mean = mean_cross_entropy(whole, targets);
  backward(mean.loss);
  for (Index b = 0; b < 2; ++b) {
    const auto first = targets.ids.begin() + 3 * b;
    const Tokens part({1, 3}, {first, first + 3});
    backward(scale(sum(cross_entropy(narrow(parts, 0, b, 1), part)), 1 / static_cast<Real>(mean.count)));
  }
  check_close(parts.gradient(), whole.gradient());
}

TEST_CASE("Cross-entropy has the same bits for any number of threads") {
  const Tensor logits = random_tensor({200, 300}, -5, 5);
  Tokens targets({200});
  for (Index row = 0; row < 200; ++row) targets[row] = row % 7 == 0 ? none : row;
  std::vector<Tensor> losses, gradients;
  for (const int threads : {1, 2, 5}) {
    const SharingThreads sharing(threads);
    const Variable x = parameter(logits);
    const MeanLoss mean = mean_cross_entropy(x, targets);
    losses.push_back(mean.loss.value());
    backward(mean.loss);
    gradients.push_back(x.gradient());
  }
  for (std::size_t k = 1; k < 3; ++k) {
    CHECK(same_bits(losses[k], losses[0]));
    CHECK(same_bits(gradients[k], gradients[0]));
  }
}

TEST_CASE("A target outside the vocabulary that is not the ignored one is an error at the caller's line") {
  const Variable x(Tensor::zeros({1, 2, 4}));
  for (const Index target : {Index{4}, Index{-1}, Index{-99}, Index{-101}}) {
    CHECK_THROWS_AS(cross_entropy(x, Tokens({1, 2}, {0, target})), RangeError);
  }
  const Tokens targets({1, 2}, {3, 4});
  const auto line = Where::current().line() + 1;
  const std::string message = thrown_by<RangeError>([&] { static_cast<void>(mean_cross_entropy(x, targets)); });
  CHECK(holds(message, "target 4 at position 1 is outside 0 .. 3"));
  CHECK(holds(message, "loss_test.cpp:" + std::to_string(line)));
}

TEST_CASE("Logits that do not fit the targets are an error with both shapes") {
  const auto fails = [](const Shape& logits, const Tokens& targets) {
    return thrown_by<ShapeError>([&] { cross_entropy(Variable(Tensor::zeros(logits)), targets); });
  };
  CHECK(holds(fails({2, 4}, Tokens({3})), "logits [2, 4] for 3 targets of shape [3]"));
  CHECK(holds(fails({2, 3}, Tokens({2, 3})), "logits [2, 3]"));
  CHECK(holds(fails({}, Tokens(Shape{})), "logits []"));
  CHECK(holds(fails({4}, Tokens({4})), "logits [4]"));
  CHECK(holds(fails({2, 0}, Tokens({2})), "logits [2, 0]"));
  Tokens more({2});
  more.ids.resize(1000);
  CHECK(holds(fails({2, 4}, more), "1000 targets of shape [2]"));
}

}  // namespace segue::nn_loss_test
