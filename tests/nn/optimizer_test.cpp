#include "nn/optimizer.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <new>

#include "autograd/backward.hpp"
#include "autograd/matmul.hpp"
#include "nn/embedding.hpp"
#include "nn/tools/sgd.hpp"
#include "tensor/elementwise.hpp"
#include "tensor/parallel.hpp"
#include "tensor/plain.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::nn_optimizer_test {

namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();
constexpr Real not_a_number = std::numeric_limits<Real>::quiet_NaN();

// A parameter with this value and gradient.
Variable with_gradient(const Tensor& value, const Tensor& gradient) {
  Variable variable = parameter(value);
  variable.set_gradient(gradient);
  return variable;
}

// Where one number that starts at 1 stands after steps with the gradients 1/2, -1/4 and 1.
template <class Optimizer>
std::vector<Real> path(const Variable& x, Optimizer optimizer, Real learning_rate) {
  std::vector<Real> values;
  for (const Real g : {Real(0.5), Real(-0.25), Real(1)}) {
    Variable(x).set_gradient(Tensor::scalar(g));
    optimizer.step(learning_rate);
    values.push_back(x.item());
  }
  return values;
}

// Kingma and Ba's algorithm 1 with the decay of Loshchilov and Hutter, element by element in double.
struct PlainAdam {
  double beta1, beta2, epsilon, decay, b1_power = 1, b2_power = 1;
  std::vector<double> x, m, v;
  void step(double rate, const Tensor& gradient) {
    const std::vector<Real> g = gradient.to_vector();
    b1_power *= beta1, b2_power *= beta2;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double gi = static_cast<double>(g[i]);
      m[i] = beta1 * m[i] + (1 - beta1) * gi;
      v[i] = beta2 * v[i] + (1 - beta2) * gi * gi;
      const double m_hat = m[i] / (1 - b1_power), v_hat = v[i] / (1 - b2_power);
      x[i] = x[i] - rate * decay * x[i] - rate * m_hat / (std::sqrt(v_hat) + epsilon);
    }
  }
};

void check_path(const std::vector<Real>& got, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(static_cast<double>(got[i]) == doctest::Approx(expected[i]).epsilon(sizeof(Real) == 8 ? 1e-14 : 1e-6));
  }
}

double norm_of(const std::vector<Parameter>& parameters) {
  double squares = 0;
  for (const Parameter& p : parameters) {
    for (const Real g : p.variable.gradient().to_vector()) squares += static_cast<double>(g) * static_cast<double>(g);
  }
  return std::sqrt(squares);
}

}  // namespace

TEST_CASE("Gradient descent goes against the gradient, and momentum remembers") {
  const Variable x = parameter(Tensor::scalar(1)), y = parameter(Tensor::scalar(1));
  check_path(path(x, Sgd({{"x", x}}), Real(0.25)), {0.875, 0.9375, 0.6875});
  check_path(path(y, Sgd({{"y", y}}, Real(0.5)), Real(0.25)), {0.875, 0.875, 0.625});
}

TEST_CASE("Under a steady gradient momentum goes 1 / (1 - momentum) times as fast in the end") {
  const Variable x = parameter(Tensor::scalar(0));
  Sgd sgd({{"x", x}}, Real(0.75));
  Variable(x).set_gradient(Tensor::scalar(1));
  for (int step = 0; step < 200; ++step) sgd.step(1);
  const Real before = x.item();
  sgd.step(1);
  CHECK(static_cast<double>(before - x.item()) == doctest::Approx(4));
}

TEST_CASE("Adam and AdamW have the known values") {
  const Variable x = parameter(Tensor::scalar(1)), y = parameter(Tensor::scalar(1));
  check_path(path(x, Adam({{"x", x}}), Real(0.1)), {0.900000001999999960, 0.873366298707846163, 0.807555139677089616});
  AdamOptions options;
  options.weight_decay = Real(0.1);
  check_path(path(y, Adam({{"y", y}}, options), Real(0.1)),
             {0.890000001999999960, 0.854466298687846163, 0.780110476670211154});
}

TEST_CASE("Adam follows its algorithm over many steps, whatever the strides of value and gradient") {
  const Tensor start = random_tensor({4, 5}).transpose(0, 1);
  const Variable x = parameter(start);
  AdamOptions options;
  options.beta1 = Real(0.75), options.beta2 = Real(0.9375), options.weight_decay = Real(0.25);  // exact in float
  Adam adam({{"x", x}}, options);
  const std::vector<Real> values = start.to_vector();
  PlainAdam plain{0.75, 0.9375, static_cast<double>(options.epsilon), 0.25, 1, 1, {values.begin(), values.end()},
                  {},   {}};
  plain.m = plain.v = std::vector<double>(20, 0.0);
  for (std::uint64_t step = 0; step < 50; ++step) {
    const Tensor gradient = random_tensor({4, 5}, -1, 1, step).transpose(0, 1);
    Variable(x).set_gradient(gradient);
    adam.step(Real(0.125));
    plain.step(0.125, gradient);
  }
  CHECK(adam.steps == 50);
  check_close(x.value(), Tensor({5, 4}, {plain.x.begin(), plain.x.end()}), sizeof(Real) == 8 ? 1e-12 : 2e-5);
}

TEST_CASE("Adam's first step has the size of the learning rate, whatever the size of the gradient") {
  const Variable x = with_gradient(Tensor::zeros({4}), Tensor({4}, {1, -100, Real(0.01), 0}));
  Adam({{"x", x}}).step(Real(0.125));
  check_close(x.value(), Tensor({4}, {Real(-0.125), Real(0.125), Real(-0.125), 0}), 2e-6);
}

TEST_CASE("Adam does not see the scale of the gradients") {
  const Variable x = parameter(Tensor::scalar(1)), y = parameter(Tensor::scalar(1));
  AdamOptions options;
  options.epsilon = std::numeric_limits<Real>::min();
  Adam a({{"x", x}}, options), b({{"y", y}}, options);
  for (const Real g : {Real(0.5), Real(-0.25), Real(1)}) {
    Variable(x).set_gradient(Tensor::scalar(g));
    Variable(y).set_gradient(Tensor::scalar(g * 1024));
    a.step(Real(0.1));
    b.step(Real(0.1));
    CHECK(same_bits(x.value(), y.value()));
  }
}

TEST_CASE("AdamW's decay does not depend on the gradient") {
  AdamOptions options;
  options.weight_decay = Real(0.5);
  const Variable still = with_gradient(Tensor({2}, {8, -4}), Tensor::zeros({2}));
  Adam({{"still", still}}, options).step(Real(0.25));
  CHECK(still.value().to_vector() == std::vector<Real>{7, Real(-3.5)});
  const Tensor value({2}, {8, -4}), gradient({2}, {3, 5});
  const Variable with = with_gradient(value, gradient), without = with_gradient(value, gradient);
  Adam({{"with", with}}, options).step(Real(0.25));
  Adam({{"without", without}}).step(Real(0.25));
  check_close(sub(with.value(), without.value()), Tensor({2}, {-1, Real(0.5)}));
}

TEST_CASE("Both optimisers find the lowest point of a bowl") {
  const Tensor target = random_tensor({3});
  const auto descend = [&](const Variable& x, auto optimizer, Real rate) {
    for (int step = 0; step < 300; ++step) {
      clear_gradients(optimizer.parameters);
      const Variable away = x - Variable(target);
      backward(sum(away * away));
      optimizer.step(rate * std::pow(Real(0.98), static_cast<Real>(step)));
    }
    check_close(x.value(), target, 1e-3);
  };
  const Variable x = parameter(Tensor::zeros({3})), y = parameter(Tensor::zeros({3}));
  descend(x, Sgd({{"x", x}}, Real(0.5)), Real(0.1));
  descend(y, Adam({{"y", y}}), Real(0.1));
}

TEST_CASE("A parameter without a gradient keeps its value and its moments, decay or not") {
  const Variable x = parameter(Tensor({2}, {1, 2})), y = with_gradient(Tensor({1}, {1}), Tensor({1}, {1}));
  AdamOptions options;
  options.weight_decay = Real(0.5);
  Adam adam({{"x", x}, {"y", y}}, options);
  adam.step(Real(0.1));
  Sgd({{"x", x}, {"y", y}}, Real(0.5)).step(Real(0.1));
  CHECK(x.value().to_vector() == std::vector<Real>{1, 2});
  CHECK(same_bits(adam.first_moment[0], Tensor::zeros({2})));
  CHECK(y.item() < Real(0.9));
}

TEST_CASE("A tied parameter that is handed in twice has one state and gets one update and one decay") {
  AdamOptions options;
  options.weight_decay = Real(0.25);
  const auto run = [&](auto make) {
    const Variable x = with_gradient(Tensor({2}, {1, 2}), Tensor({2}, {3, -5}));
    auto optimizer = make(x);
    CHECK(optimizer.parameters.size() == 1);
    for (int step = 0; step < 3; ++step) optimizer.step(Real(0.125));
    return x.value();
  };
  CHECK(same_bits(run([&](const Variable& x) {
                    return Adam({{"in", x}, {"out", x}}, options);
                  }),
                  run([&](const Variable& x) {
                    return Adam({{"in", x}}, options);
                  })));
  CHECK(same_bits(run([](const Variable& x) {
                    return Sgd({{"in", x}, {"out", x}}, Real(0.5));
                  }),
                  run([](const Variable& x) {
                    return Sgd({{"in", x}}, Real(0.5));
                  })));
}

TEST_CASE("A table used as embedding and as output layer collects both gradients before its one update") {
  Random random(1);
  const Embedding embedding(3, 2, random);
  const Variable in = parameter(embedding.table.value().clone()), out = parameter(embedding.table.value().clone());
  const auto logits = [](const Variable& table, const Variable& x) { return sum(matmul(x, transpose(table, 0, 1))); };
  const Tokens tokens({2}, {0, 2});
  backward(logits(embedding.table, embedding(tokens)));
  backward(logits(out, gather(in, tokens)));
  check_close(embedding.table.gradient(), add(in.gradient(), out.gradient()));
}

TEST_CASE("A graph that still holds a parameter keeps the numbers from before the step") {
  const auto run = [](auto optimizer, Variable x) {
    x.set_gradient(Tensor({2}, {1, 1}));
    const Variable loss = sum(x * x);
    optimizer.step(Real(0.5));
    CHECK_FALSE(same_bits(x.value(), Tensor({2}, {3, 4})));
    x.clear_gradient();
    backward(loss);
    CHECK(x.gradient().to_vector() == std::vector<Real>{6, 8});
  };
  const Variable x = parameter(Tensor({2}, {3, 4})), y = parameter(Tensor({2}, {3, 4}));
  run(Sgd({{"x", x}}), x);
  run(Adam({{"y", y}}), y);
}

TEST_CASE("Steps leave the gradient and the tensor a parameter was made of alone, and then work in place") {
  const Tensor start({2}, {3, 4}), gradient({2}, {1, -1});
  const Variable x = with_gradient(start, gradient);
  Adam adam({{"x", x}});
  adam.step(Real(0.5));
  CHECK(start.to_vector() == std::vector<Real>{3, 4});
  CHECK(same_bits(x.gradient(), gradient));
  CHECK(gradient.to_vector() == std::vector<Real>{1, -1});
  const Real* place = x.value().data();
  adam.step(Real(0.5));
  CHECK(x.value().data() == place);
}

TEST_CASE("Going on from saved moments and step equals never having stopped") {
  const auto steps = [](Adam& adam, const Variable& x, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t step = first; step < last; ++step) {
      Variable(x).set_gradient(random_tensor({7}, -1, 1, step));
      adam.step(Real(0.1));
    }
  };
  const Variable x = parameter(random_tensor({7})), y = parameter(random_tensor({7}));
  Adam whole({{"x", x}}), before({{"y", y}}), after({{"y", y}});
  steps(whole, x, 0, 10);
  steps(before, y, 0, 5);
  after.steps = before.steps;
  after.first_moment[0] = before.first_moment[0].clone();
  after.second_moment[0] = before.second_moment[0].clone();
  steps(after, y, 5, 10);
  CHECK(same_bits(x.value(), y.value()));
}

TEST_CASE("A step has the same bits for any number of threads") {
  const int before = thread_count();
  const auto run = [](int threads) {
    const SharingThreads sharing(threads);
    const Variable x = with_gradient(random_tensor({300, 301}), random_tensor({300, 301}, -1, 1, 1));
    const std::vector<Parameter> all = {{"x", x}};
    CHECK(clip_gradients(all, 1).finite);
    Adam(all).step(Real(0.1));
    Sgd(all).step(Real(0.1));
    return x.value();
  };
  const Tensor one = run(1);
  for (const int threads : {2, 5}) CHECK(same_bits(run(threads), one));
  set_thread_count(before);
}

TEST_CASE("A parameter whose first gradient comes late begins as if it were alone, with t = 1") {
  const Variable early = parameter(Tensor::scalar(1)), late = parameter(Tensor::scalar(1)),
                 alone = parameter(Tensor::scalar(1));
  Adam both({{"early", early}, {"late", late}}), one({{"alone", alone}});
  for (int step = 0; step < 5; ++step) {
    Variable(early).set_gradient(Tensor::scalar(Real(0.5)));
    both.step(Real(0.1));
  }
  for (const Real g : {Real(0.5), Real(-0.25), Real(1)}) {
    Variable(early).clear_gradient();  // and this one now misses some
    Variable(late).set_gradient(Tensor::scalar(g));
    Variable(alone).set_gradient(Tensor::scalar(g));
    both.step(Real(0.1));
    one.step(Real(0.1));
    CHECK(same_bits(late.value(), alone.value()));
  }
  CHECK(both.steps == 8);
  CHECK(both.missed == std::vector<Index>{3, 5});
}

TEST_CASE("A learning rate that is no finite number from 0 on is an error at the caller's line, and changes nothing") {
  const Variable x = with_gradient(Tensor({2}, {1, 2}), Tensor({2}, {3, -5}));
  Adam adam({{"x", x}});
  adam.step(Real(0.125));
  const Tensor value = x.value().clone(), first = adam.first_moment[0].clone(), second = adam.second_moment[0].clone();
  for (const Real rate : {not_a_number, infinity, -infinity, Real(-0.5)}) CHECK_THROWS_AS(adam.step(rate), ValueError);
  CHECK(same_bits(x.value(), value));
  CHECK(same_bits(adam.first_moment[0], first));
  CHECK(same_bits(adam.second_moment[0], second));
  CHECK(adam.steps == 1);
  adam.step(0);  // a schedule may end there
  CHECK(same_bits(x.value(), value));
  const auto line = Where::current().line() + 1;
  const std::string message = thrown_by<ValueError>([&] { adam.step(-2); });
  CHECK(holds(message, "learning rate must be a finite number from 0 on, got -2"));
  CHECK(holds(message, "optimizer_test.cpp:" + std::to_string(line)));
}

TEST_CASE("A step for which memory runs out leaves parameters, moments and count as they were") {
  const Variable x = with_gradient(Tensor({2}, {1, 2}), Tensor({2}, {3, -5}));
  Adam adam({{"x", x}, {"y", parameter(Tensor::zeros({1}))}});
  const Shape giant = {Index{1} << 60};  // of one number, as long as nobody writes them out
  const Tensor repeated = Tensor::scalar(1).broadcast_to(giant);
  const Variable y = parameter(repeated);
  y.shared_node()->gradient = repeated;
  y.shared_node()->has_gradient = true;
  adam.parameters[1].variable = y;
  CHECK_THROWS_AS(adam.step(Real(0.125)), std::bad_alloc);
  CHECK(x.value().to_vector() == std::vector<Real>{1, 2});
  CHECK(same_bits(adam.first_moment[0], Tensor::zeros({2})));
  CHECK(same_bits(adam.second_moment[0], Tensor::zeros({2})));
  CHECK(adam.steps == 0);
  CHECK(adam.missed == std::vector<Index>{0, 0});
}

TEST_CASE(
    "Many parameters that share the threads become what each becomes alone, those without a gradient included, plain "
    "or "
    "fast") {
  const int before = thread_count();
  const std::vector<Index> sizes = {1, 70000, 0, 3, 40000, 50000, 17, 90000};
  const auto made = [&] {
    std::vector<Parameter> all;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      const Tensor value = random_tensor({sizes[k]}, -1, 1, k), gradient = random_tensor({sizes[k]}, -1, 1, k + 100);
      all.push_back({"x" + std::to_string(k), k == 4 ? parameter(value) : with_gradient(value, gradient)});
    }
    return all;
  };
  const std::vector<Parameter> alone = made();
  set_thread_count(1);
  const double norm = clip_gradients(alone, 1).norm;
  for (const Parameter& p : alone) Adam({p}).step(Real(0.1));
  for (const int threads : {1, 2, 5}) {
    const SharingThreads sharing(threads);
    for (const bool formula : {true, false}) {
      const PlainGuard guard(formula);
      const std::vector<Parameter> together = made();
      CHECK(clip_gradients(together, 1).norm == norm);
      Adam(together).step(Real(0.1));
      for (std::size_t k = 0; k < sizes.size(); ++k) {
        CHECK(same_bits(together[k].variable.value(), alone[k].variable.value()));
      }
    }
  }
  set_thread_count(before);
}

TEST_CASE("Options without meaning are errors that show them, at the caller's line") {
  const std::vector<Parameter> all = {{"x", parameter(Tensor::scalar(1))}};
  for (const Real momentum : {Real(-0.5), Real(1), not_a_number}) CHECK_THROWS_AS(Sgd(all, momentum), ValueError);
  const auto rejects = [&](Real AdamOptions::*option, Real value) {
    AdamOptions options;
    options.*option = value;
    CHECK_THROWS_AS(Adam(all, options), ValueError);
  };
  for (const Real beta : {Real(-0.5), Real(1), not_a_number}) {
    rejects(&AdamOptions::beta1, beta);
    rejects(&AdamOptions::beta2, beta);
  }
  for (const Real epsilon : {Real(0), Real(-1), not_a_number}) rejects(&AdamOptions::epsilon, epsilon);
  for (const Real decay : {Real(-1), not_a_number}) rejects(&AdamOptions::weight_decay, decay);
  const auto line = Where::current().line() + 1;
  const std::string message = thrown_by<ValueError>([&] { Sgd(all, Real(1.5)); });
  CHECK(holds(message, "momentum must be in [0, 1), got 1.5"));
  CHECK(holds(message, "optimizer_test.cpp:" + std::to_string(line)));
}

TEST_CASE("Clipping scales all gradients together down to the limit, and keeps smaller ones bit for bit") {
  const std::vector<Parameter> all = {{"x", with_gradient(Tensor::zeros({2}), Tensor({2}, {3, 0}))},
                                      {"without", parameter(Tensor::zeros({5}))},
                                      {"y", with_gradient(Tensor::zeros({1, 1}), Tensor({1, 1}, {-4}))}};
  for (const Real limit : {Real(5), Real(7), infinity}) {
    const Clipping clipping = clip_gradients(all, limit);
    CHECK(clipping.norm == 5);
    CHECK(clipping.finite);
    CHECK(all[0].variable.gradient().to_vector() == std::vector<Real>{3, 0});
  }
  CHECK(clip_gradients(all, Real(2.5)).norm == 5);
  CHECK(all[0].variable.gradient().to_vector() == std::vector<Real>{Real(1.5), 0});
  CHECK(all[2].variable.gradient().to_vector() == std::vector<Real>{-2});
  CHECK_FALSE(all[1].variable.has_gradient());
}

TEST_CASE("After clipping the norm is the limit, and the direction the same") {
  const Tensor gradient = random_tensor({6, 7}, -9, 9).transpose(0, 1);
  const std::vector<Parameter> all = {{"x", with_gradient(Tensor::zeros({7, 6}), gradient)}};
  const double before = norm_of(all);
  CHECK(clip_gradients(all, Real(0.25)).norm == doctest::Approx(before).epsilon(1e-12));
  CHECK(norm_of(all) == doctest::Approx(0.25).epsilon(1e-6));
  check_close(all[0].variable.gradient(), scale(gradient, static_cast<Real>(0.25 / before)));
}

TEST_CASE("Clipping counts a tied parameter once, and leaves tensors that share the gradient alone") {
  const Tensor gradient({2}, {3, 4});
  const Variable x = with_gradient(Tensor::zeros({2}), gradient);
  CHECK(clip_gradients({{"in", x}, {"out", x}}, 1).norm == 5);
  check_close(x.gradient(), Tensor({2}, {Real(0.6), Real(0.8)}), 1e-6);
  CHECK(gradient.to_vector() == std::vector<Real>{3, 4});
}

TEST_CASE("No gradients, and zero gradients, have norm 0") {
  CHECK(clip_gradients({}, 1).norm == 0);
  const Clipping clipping = clip_gradients({{"x", with_gradient(Tensor::zeros({2}), Tensor::zeros({2}))}}, 1);
  CHECK(clipping.norm == 0);
  CHECK(clipping.finite);
}

TEST_CASE("A gradient that is not finite is reported, and nothing is changed") {
  for (const Real bad : {infinity, -infinity, not_a_number}) {
    const std::vector<Parameter> all = {{"x", with_gradient(Tensor::zeros({2}), Tensor({2}, {300, 400}))},
                                        {"y", with_gradient(Tensor::zeros({2}), Tensor({2}, {1, bad}))}};
    const Clipping clipping = clip_gradients(all, 1);
    CHECK_FALSE(clipping.finite);
    CHECK_FALSE(std::isfinite(clipping.norm));
    CHECK(all[0].variable.gradient().to_vector() == std::vector<Real>{300, 400});
    CHECK(all[1].variable.gradient().at({0}) == 1);
  }
}

TEST_CASE("Large finite gradients are clipped, not taken for infinite ones") {
  const Real large = sizeof(Real) == 8 ? Real(1e150) : Real(1e30);
  const std::vector<Parameter> all = {{"x", with_gradient(Tensor::zeros({2}), Tensor({2}, {3 * large, 4 * large}))}};
  CHECK(clip_gradients(all, 1).finite);
  check_close(all[0].variable.gradient(), Tensor({2}, {Real(0.6), Real(0.8)}), 1e-6);
}

TEST_CASE("A clipping limit that is not above 0 is an error at the caller's line, and changes nothing") {
  const std::vector<Parameter> all = {{"x", with_gradient(Tensor::zeros({1}), Tensor({1}, {3}))}};
  for (const Real limit : {Real(0), Real(-1), not_a_number})
    CHECK_THROWS_AS(static_cast<void>(clip_gradients(all, limit)), ValueError);
  CHECK(all[0].variable.gradient().item() == 3);
  const auto line = Where::current().line() + 1;
  const std::string message = thrown_by<ValueError>([&] { static_cast<void>(clip_gradients(all, -2)); });
  CHECK(holds(message, "the clipping limit must be above 0, got -2"));
  CHECK(holds(message, "optimizer_test.cpp:" + std::to_string(line)));
}

}  // namespace segue::nn_optimizer_test
