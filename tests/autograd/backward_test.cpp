#include "autograd/backward.hpp"

#include <doctest/doctest.h>
#include <pthread.h>

#include <limits>

#include "autograd/arithmetic.hpp"
#include "autograd/masking.hpp"
#include "autograd/matmul.hpp"
#include "autograd/reductions.hpp"
#include "autograd/relu.hpp"
#include "autograd/softmax.hpp"
#include "autograd/tools/functions.hpp"
#include "autograd/tools/gelu.hpp"
#include "autograd/tools/graph.hpp"
#include "nn/kernels/linear_relu.hpp"
#include "nn/layer_norm.hpp"
#include "nn/loss.hpp"
#include "tensor/elementwise.hpp"
#include "tensor/parallel.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::autograd_backward_test {

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
#else
constexpr bool sanitized = false;
#endif

// Runs f on a thread whose stack has 256 KiB; sanitizers need more for themselves.
template <class F>
void on_small_stack(F& f) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  REQUIRE(pthread_attr_setstacksize(&attributes, sanitized ? 2097152 : 262144) == 0);
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    (*static_cast<F*>(argument))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, &f) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

// z = x, and counts how often its backward runs.
struct Counted : Node {
  int* runs = nullptr;
  void backward(const Tensor& dz) override {
    ++*runs;
    accumulate(0, dz);
  }
};

Variable counted(const Variable& x, int& runs) {
  auto op = std::make_shared<Counted>();
  op->runs = &runs;
  return record("counted", op, x.value(), {x}, Where::current());
}

Real gradient_of(const Variable& x) { return x.gradient().item(); }

}  // namespace

TEST_CASE("A node used twice passes on the sum of both gradients, once") {
  const Variable a = parameter(Tensor::scalar(1));
  int b_runs = 0, c_runs = 0;
  const Variable b = counted(a + a, b_runs);
  const Variable c = counted(b + b, c_runs);
  backward(c + b * b);
  CHECK(gradient_of(a) == 4 + 8);  // c = 4a, b^2 = 4 a^2
  CHECK(b_runs == 1);
  CHECK(c_runs == 1);
}

TEST_CASE("dc/da of b = a + a, c = b + b is 4") {
  const Variable a = parameter(Tensor::scalar(1));
  const Variable b = a + a;
  backward(b + b);
  CHECK(gradient_of(a) == 4);
}

TEST_CASE("The products x (x a) + (x x) a + x (x a) have slope 6 a x") {
  const Variable x = parameter(Tensor::scalar(1)), a = parameter(Tensor::scalar(1));
  backward(x * (x * a) + (x * x) * a + x * (x * a));
  CHECK(gradient_of(x) == 6);
  CHECK(gradient_of(a) == 3);
}

TEST_CASE("A ladder of forty diamonds fires each of its nodes once") {
  const Variable x = parameter(Tensor::scalar(1));
  int runs = 0;
  Variable z = x;
  for (int i = 0; i < 40; ++i) {
    const Variable half = counted(scale(z, Real(0.5)), runs);
    z = half + half;
  }
  backward(z);
  CHECK(gradient_of(x) == 1);
  CHECK(runs == 40);
}

TEST_CASE("Inputs stand before their users in the topological order") {
  const Variable x = parameter(Tensor::scalar(2)), constant(Tensor::scalar(3));
  const Variable y = x * constant, z = y * y + x;
  const auto order = topological_order(z);
  CHECK(order.size() == 4);  // the constant takes no part
  CHECK(order.front() == x.shared_node());
  CHECK(order.back() == z.shared_node());
}

TEST_CASE("A chain of a million nodes is built, printed, walked and freed on a small stack") {
  const std::int64_t before = live_node_count();
  const int total = sanitized ? 20000 : 1000000;
  Real slope = 0;
  std::string tree, dot;
  std::size_t size = 0;
  std::int64_t after_backward = 0;
  auto run = [&] {
    const Variable x = parameter(Tensor::scalar(2));
    const auto chain = [&](int length) {
      Variable z = x;
      for (int i = 0; i < length; ++i) z = neg(z);
      return z;
    };
    Variable z = chain(total);
    tree = graph_as_tree(z, 20);
    dot = graph_as_dot(z, 20);
    size = graph_size(z);
    backward(z);
    slope = gradient_of(x);
    after_backward = live_node_count();
    z = x;
    chain(total / 5);  // freed without a backward
  };
  on_small_stack(run);
  CHECK(slope == 1);
  CHECK(size == static_cast<std::size_t>(total) + 1);
  CHECK(holds(tree, "..."));
  CHECK(tree.size() < 2000);
  CHECK(dot.size() < 4000);
  CHECK(after_backward == before + 2);
  CHECK(live_node_count() == before);
}

TEST_CASE("The sum of 200,000 ones has slope 1 for a number that is added each time") {
  const Variable x = parameter(Tensor::scalar(1));
  Variable z(Tensor::scalar(0));
  const int n = sanitized ? 20000 : 200000;
  for (int i = 0; i < n; ++i) z = z + x;
  backward(z);
  CHECK(gradient_of(x) == static_cast<Real>(n));
}

TEST_CASE("After backward only what somebody still holds is alive") {
  const std::int64_t before = live_node_count();
  const Variable w = parameter(random_tensor({3, 3})), b = parameter(random_tensor({3}));
  {
    const Variable loss = sum(tanh(matmul(Variable(random_tensor({2, 3})), w) + b));
    CHECK(live_node_count() > before + 3);
    backward(loss);
    CHECK(live_node_count() == before + 3);
    CHECK(loss.node().inputs.empty());
  }
  CHECK(live_node_count() == before + 2);
  for (int step = 0; step < 3; ++step) {
    backward(sum(w * w));
    CHECK(live_node_count() == before + 2);
  }
}

TEST_CASE("A second backward is an error that names the op and its line, and changes no gradient") {
  const Variable x = parameter(Tensor::scalar(3));
  const auto line = Where::current().line() + 1;
  const Variable z = x * x;
  backward(z);
  const std::string message = thrown_by<GraphError>([&] { backward(z); });
  CHECK(holds(message, "mul made at"));
  CHECK(holds(message, "backward_test.cpp:" + std::to_string(line)));
  CHECK(holds(message, "keep"));
  CHECK_THROWS_AS(backward(z + x), GraphError);  // also from a later result
  CHECK(gradient_of(x) == 6);
}

TEST_CASE("A kept graph can be walked again, which doubles the gradients exactly") {
  const Variable x = parameter(random_tensor({3, 4}));
  const Variable z = sum(tanh(scale(x, 3)));
  backward(z, Graph::keep);
  const Tensor once = x.gradient().clone();
  backward(z, Graph::keep);
  CHECK(same_bits(x.gradient(), scale(once, 2)));
  backward(z);
  check_close(x.gradient(), scale(once, 3));
  CHECK_THROWS_AS(backward(z), GraphError);
}

TEST_CASE("Gradients of several losses add up until they are cleared, whatever op comes last") {
  const std::vector<Function> losses = {
      [](const std::vector<Variable>& x) { return sum(x[0]); },
      [](const std::vector<Variable>& x) { return mean(x[0]); },
      [](const std::vector<Variable>& x) {
        return sum(broadcast_to(sum(x[0], {1}, true), {3, 4}));
      },
      [](const std::vector<Variable>& x) { return sum(transpose(x[0], 0, 1)); },
      [](const std::vector<Variable>& x) {
        return sum(concat({x[0], x[0]}, 0));
      },
      [](const std::vector<Variable>& x) { return sum(x[0] + x[0]); },
      [](const std::vector<Variable>& x) { return sum(narrow(x[0], 1, 1, 2)); },
      [](const std::vector<Variable>& x) { return mean(x[0]) + sum(x[0] * x[0]) + mean(reshape(x[0], {-1})); }};
  for (std::size_t i = 0; i < losses.size(); ++i) {
    CAPTURE(i);
    Variable x = parameter(random_tensor({3, 4}));
    backward(losses[i]({x}));
    const Tensor once = x.gradient().clone();
    CHECK_NOTHROW(backward(losses[i]({x})));
    check_close(x.gradient(), scale(once, 2));
    CHECK_NOTHROW(backward(sum(x)));
    check_close(x.gradient(), add(scale(once, 2), Tensor::scalar(1)));
    x.clear_gradient();
    backward(losses[i]({x}));
    check_close(x.gradient(), once);
  }
}

TEST_CASE("An op that hands the same gradient to both inputs does not tie them together") {
  const Variable x = parameter(Tensor::full({3}, 1)), y = parameter(Tensor::full({3}, 1));
  backward(sum(x + y) + sum(scale(x, 10)) + sum(scale(y, 100)) + sum(scale(x, 1000)));
  CHECK(x.gradient().to_vector() == std::vector<Real>{1011, 1011, 1011});
  CHECK(y.gradient().to_vector() == std::vector<Real>{101, 101, 101});
  const Tensor dz = Tensor::full({3}, 2);
  backward(x + y, dz);
  backward(x + y, dz);
  CHECK(dz.to_vector() == std::vector<Real>{2, 2, 2});
  CHECK(x.gradient().to_vector() == std::vector<Real>{1015, 1015, 1015});
}

TEST_CASE("A stack of thirty residual layers has the gradient of central differences") {
  if (sizeof(Real) != 8) return;
  const GradientCheck check = check_gradient(
      [](const std::vector<Variable>& inputs) {
        Variable x = inputs[0];
        for (int layer = 0; layer < 30; ++layer) {
          const Variable y = tanh(matmul(x, inputs[1]));
          x = scale(x + y * sigmoid(x), Real(0.9)) + mean(y, {0}, true);
        }
        return mean(x * x);
      },
      {random_tensor({2, 3}), random_tensor({3, 3}, -1, 1, 8)});
  CAPTURE(to_string(check));
  CHECK(check.error < 1e-7);
}

TEST_CASE("A value changed in place after its use is an error, also through a view") {
  Tensor value = Tensor::full({2}, 3);
  const Variable x = parameter(value);
  const Variable z = sum(x * x);
  value.narrow(0, 1, 1).fill_in_place(9);
  const std::string message = thrown_by<GraphError>([&] { backward(z); });
  CHECK(holds(message, "mul made at"));
  CHECK(holds(message, "in place"));
  CHECK_FALSE(x.has_gradient());
}

TEST_CASE("A result keeps its values when a view of its input is written to afterwards") {
  Tensor a = Tensor::full({2}, 1);
  const Variable s = parameter(a) + 1;
  a.narrow(0, 0, 1).fill_in_place(9);
  CHECK(s.value().to_vector() == std::vector<Real>{2, 2});
}

TEST_CASE("backward starts from one number or from a gradient of the same shape, and needs a parameter") {
  const Variable x = parameter(Tensor::zeros({2, 3}));
  const auto line = Where::current().line() + 1;
  const std::string several = thrown_by<ShapeError>([&] { backward(x + x); });
  CHECK(holds(several, "[2, 3]"));
  CHECK(holds(several, "backward_test.cpp:" + std::to_string(line)));
  const std::string other = thrown_by<ShapeError>([&] { backward(x + x, Tensor::zeros({3, 2})); });
  CHECK(holds(other, "[3, 2]"));
  CHECK(holds(other, "[2, 3]"));
  CHECK_THROWS_AS(backward(sum(Variable(Tensor::zeros({2})))), GraphError);
}

TEST_CASE("backward of a parameter itself adds one to its gradient") {
  const Variable x = parameter(Tensor::scalar(5));
  backward(x);
  backward(x);
  CHECK(gradient_of(x) == 2);
}

TEST_CASE("An inner node keeps its gradient only when asked, and then the one of the last backward") {
  const Variable x = parameter(Tensor::scalar(3));
  Variable y = x * x;
  const Variable other = x * x, z = scale(y, 5) + other;
  y.keep_gradient();
  backward(z, Graph::keep);
  CHECK(gradient_of(y) == 5);
  CHECK_FALSE(other.has_gradient());
  backward(z);
  CHECK(gradient_of(y) == 5);
  CHECK(gradient_of(x) == 72);
}

TEST_CASE("Under a FiniteGradientGuard backward stops at the first op that gives a gradient not finite") {
  const Variable x = parameter(Tensor::full({2}, 0), "w");
  const auto line = Where::current().line() + 1;
  const Variable root = sqrt(x);
  const Variable loss = sum(root * root + exp(root));
  {
    const FiniteGradientGuard guard;
    const std::string message = thrown_by<GraphError>([&] { backward(loss, Graph::keep); });
    CHECK(holds(message, "backward of sqrt made at"));
    CHECK(holds(message, "backward_test.cpp:" + std::to_string(line)));
    CHECK(holds(message, "'w'"));
  }
  Variable y = parameter(Tensor::full({2}, 0));
  backward(sum(sqrt(y)));  // without the guard infinity is a number like others
  CHECK(y.gradient().at({0}) == std::numeric_limits<Real>::infinity());
}

TEST_CASE("An interrupted backward leaves nothing behind in a kept graph") {
  const Variable x = parameter(Tensor::scalar(0));
  const Variable y = scale(x, 2);
  const Variable bad = sqrt(y);
  {
    const FiniteGradientGuard guard;
    CHECK_THROWS_AS(backward(bad + y, Graph::keep), GraphError);
  }
  CHECK_FALSE(x.has_gradient());
  backward(y);
  CHECK(gradient_of(x) == 2);
}

TEST_CASE("The sum of x[i] x[i-1] has a gradient that sums to 1984.5 for any number of threads") {
  for (const int count : {1, 4, 8}) {
    const SharingThreads sharing(count);
    const Variable x = parameter(scale(Tensor::arange(64), Real(0.5)));
    backward(sum(narrow(x, 0, 1, 63) * narrow(x, 0, 0, 63)));
    Real total = 0;
    for (const Real d : x.gradient().to_vector()) total += d;
    CHECK(total == Real(1984.5));
  }
}

TEST_CASE("Gradients have the same bits for any number of threads") {
  std::vector<Tensor> gradients;
  for (const int count : {1, 2, 5}) {
    const SharingThreads sharing(count);
    const Variable x = parameter(random_tensor({300, 200})), b = parameter(random_tensor({200}, -1, 1, 8));
    backward(mean(tanh(x * x + b) * x));
    gradients.push_back(x.gradient());
    gradients.push_back(b.gradient());
  }
  for (std::size_t i = 2; i < gradients.size(); ++i) CHECK(same_bits(gradients[i], gradients[i % 2]));
}

namespace {

// Runs `op` on x, writes into what `which` picks of x and the result, and says what backward makes of it.
std::string message_after_writing(const std::function<Variable(const Variable&)>& op, const Tensor& x,
                                  bool into_result) {
  const Variable input = parameter(x.clone());
  const Variable z = op(input);
  Tensor target = into_result ? z.value() : input.value();
  target.fill_in_place(1);
  const std::string message = thrown_by<GraphError>([&] { backward(sum(z)); });
  CHECK_FALSE(input.has_gradient());
  return message;
}

}  // namespace

TEST_CASE("Writing into a tensor that an op keeps is an error, be it an input or a result, and changes no gradient") {
  const Tensor x({2, 2}, {Real(0.5), 1, 2, 3});
  const std::vector<std::function<Variable(const Variable&)>> keep_result = {
      [](const Variable& v) { return exp(v); },
      [](const Variable& v) { return tanh(v); },
      [](const Variable& v) { return sigmoid(v); },
      [](const Variable& v) { return sqrt(v); },
      [](const Variable& v) { return softmax(v); },
      [](const Variable& v) { return log_softmax(v); },
      [](const Variable& v) { return max(v, {1}, true); },
      [](const Variable& v) { return norm(v, {1}, true); },
      [](const Variable& v) {
        return linear_relu(v, Variable(Tensor::full({2, 3}, 1)), Variable(Tensor::zeros({3})));
      }};
  for (std::size_t k = 0; k < keep_result.size(); ++k) {
    CAPTURE(k);
    CHECK(holds(message_after_writing(keep_result[k], x, true), "changed in place after its use"));
  }
  const std::vector<std::function<Variable(const Variable&)>> keep_input = {
      [](const Variable& v) { return v * v; },
      [](const Variable& v) { return v / v; },
      [](const Variable& v) { return matmul(v, v); },
      [](const Variable& v) { return log(v); },
      [](const Variable& v) { return relu(v); },
      [](const Variable& v) { return pow(v, 2); },
      [](const Variable& v) { return gelu(v); },
      [](const Variable& v) { return max(v, {1}); },
      [](const Variable& v) { return norm(v, {1}); },
      [](const Variable& v) {
        return cross_entropy(v, Tokens({2}, {0, 1}));
      },
      [](const Variable& v) { return layer_norm(v, Variable(Tensor::full({2}, 1)), Variable(Tensor::zeros({2}))); }};
  for (std::size_t k = 0; k < keep_input.size(); ++k) {
    CAPTURE(k);
    CHECK(holds(message_after_writing(keep_input[k], x, false), "changed in place after its use"));
  }
}

TEST_CASE("Writing into a mask that an op keeps is an error as well") {
  const Variable x = parameter(Tensor({2}, {1, 2}));
  Tensor mask({2}, {0, 1});
  const Variable z = masked_fill(x, mask, 0);
  mask.fill_in_place(0);
  CHECK(holds(thrown_by<GraphError>([&] { backward(sum(z)); }), "masked_fill"));
}

TEST_CASE("What an op does not keep may be written into: its gradient stays right") {
  const Variable x = parameter(Tensor({2}, {1, 2}));
  const Variable z = x + x;
  Tensor(x.value()).fill_in_place(7);
  backward(sum(z));
  CHECK(x.gradient().to_vector() == std::vector<Real>{2, 2});
}

TEST_CASE("A leaf's gradient shares its numbers with nothing, neither another leaf's nor the caller's") {
  const Variable x = parameter(Tensor({3}, {1, 2, 3}));
  const Variable y = parameter(Tensor({3}, {4, 5, 6}));
  Tensor dz = Tensor::full({3}, 1);
  backward(x + y, dz);
  Tensor dx = x.gradient();
  dx.fill_in_place(9);
  CHECK(y.gradient().to_vector() == std::vector<Real>{1, 1, 1});
  CHECK(dz.to_vector() == std::vector<Real>{1, 1, 1});

  const Variable leaf = parameter(Tensor({3}, {1, 2, 3}));
  backward(leaf, dz);
  dz.fill_in_place(5);
  CHECK(leaf.gradient().to_vector() == std::vector<Real>{1, 1, 1});

  const Variable spread = parameter(Tensor({3}, {1, 2, 3}));
  backward(sum(spread));
  CHECK(spread.gradient().is_contiguous());
  Tensor one = spread.gradient();
  one.set_in_place({0}, 4);
  CHECK(spread.gradient().to_vector() == std::vector<Real>{4, 1, 1});
}

TEST_CASE("A kept inner gradient is that of the last backward, a leaf's the sum of all") {
  const Variable x = parameter(Tensor::scalar(2));
  Variable y = x * x;
  y.keep_gradient();
  const Variable z = y * Variable(Tensor::scalar(3));
  backward(z, Graph::keep);
  backward(z, Graph::keep);
  CHECK(y.gradient().item() == 3);
  CHECK(x.gradient().item() == 24);
}

TEST_CASE("No gradient passes a mask, but 0 times an infinite slope behind it is NaN: masking the input is safe") {
  const Tensor mask({2}, {1, 0});
  const auto gradient = [&](const std::function<Variable(const Variable&)>& f) {
    const Variable y = parameter(Tensor({2}, {0, 1}));
    backward(sum(f(y)));
    return y.gradient();
  };
  const Variable one(Tensor({2}, {1, 1}));
  CHECK(std::isnan(gradient([&](const Variable& y) { return masked_fill(one / y, mask, 0); }).at({0})));
  const Tensor safe = gradient([&](const Variable& y) { return masked_fill(one / masked_fill(y, mask, 1), mask, 0); });
  CHECK(safe.to_vector() == std::vector<Real>{0, -1});
}

TEST_CASE("The gradient of a norm is x / |x|, and 0 where x is 0") {
  const Variable x = parameter(Tensor({2, 2}, {3, 4, 0, 0}));
  const Variable z = norm(x, {1});
  CHECK(z.value().to_vector() == std::vector<Real>{5, 0});
  backward(sum(z));
  check_close(x.gradient(), Tensor({2, 2}, {Real(0.6), Real(0.8), 0, 0}));
}

}  // namespace segue::autograd_backward_test
