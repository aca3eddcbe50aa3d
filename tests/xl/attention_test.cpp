#include "xl/attention.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "autograd/backward.hpp"
#include "autograd/matmul.hpp"
#include "tensor/parallel.hpp"
#include "tensor/plain.hpp"
#include "tests/support/tiny_models.hpp"
#include "xl/sinusoids.hpp"

namespace segue::xl_attention_test {

namespace {

using Row = std::vector<double>;

// Row `row` of x [rows, D], or of a batch of it, times the columns of w [D, H Dh] that belong to one head.
Row project(const Tensor& x, Index row, const Variable& w, Index head, Index Dh) {
  Row out(static_cast<std::size_t>(Dh), 0.0);
  for (Index c = 0; c < Dh; ++c) {
    for (Index d = 0; d < x.dim(-1); ++d) {
      out[static_cast<std::size_t>(c)] +=
          static_cast<double>(x.at({row, d})) * static_cast<double>(w.value().at({d, head * Dh + c}));
    }
  }
  return out;
}

Row head_row(const Variable& bias, Index head) {
  Row out;
  for (Index c = 0; c < bias.dim(1); ++c) out.push_back(static_cast<double>(bias.value().at({head, c})));
  return out;
}

double dot(const Row& x, const Row& y) {
  double total = 0;
  for (std::size_t c = 0; c < x.size(); ++c) total += x[c] * y[c];
  return total;
}

// The paper's equations, one score at a time. `hidden` is [.., T, K]; R is made afresh for each distance.
Tensor attention_by_terms(const RelativeAttention& attention, const Tensor& h, const Tensor& context, const Pass& pass,
                          const Tensor& hidden, Index clamp_length) {
  const Index B = h.dim(0), T = h.dim(1), D = h.dim(2), K = context.dim(1), M = K - T, H = pass.u.dim(0);
  const Index Dh = pass.u.dim(1);
  Tensor out = Tensor::zeros({B, T, D});
  for (Index b = 0; b < B; ++b) {
    const Tensor h_b = h.narrow(0, b, 1).reshape({T, D}), context_b = context.narrow(0, b, 1).reshape({K, D});
    for (Index head = 0; head < H; ++head) {
      const Row u = head_row(pass.u, head), v = head_row(pass.v, head);
      for (Index i = 0; i < T; ++i) {
        const Row q = project(h_b, i, attention.w_q, head, Dh);
        Row weights(static_cast<std::size_t>(K), 0.0), read(static_cast<std::size_t>(Dh), 0.0);
        double total = 0;
        for (Index j = 0; j < K; ++j) {
          if (hidden.at({b, 0, i, j}) != 0) continue;
          const Index distance = (M + i) - j;
          const Tensor R = sinusoids({clamp_length > 0 ? std::min(distance, clamp_length) : distance}, D);
          const Row k = project(context_b, j, attention.w_k_E, head, Dh), r = project(R, 0, attention.w_k_R, head, Dh);
          const double a = dot(q, k), b_ = dot(q, r), c = dot(u, k), d = dot(v, r);
          weights[static_cast<std::size_t>(j)] = std::exp((a + b_ + c + d) / std::sqrt(static_cast<double>(Dh)));
          total += weights[static_cast<std::size_t>(j)];
        }
        for (Index j = 0; j < K; ++j) {
          const Row value = project(context_b, j, attention.w_v, head, Dh);
          for (std::size_t c = 0; c < read.size(); ++c)
            read[c] += weights[static_cast<std::size_t>(j)] / total * value[c];
        }
        for (Index d = 0; d < D; ++d) {
          double joined = static_cast<double>(out.at({b, i, d}));
          for (Index c = 0; c < Dh; ++c) {
            joined +=
                read[static_cast<std::size_t>(c)] * static_cast<double>(attention.w_o.value().at({head * Dh + c, d}));
          }
          out.set_in_place({b, i, d}, static_cast<Real>(joined));
        }
      }
    }
  }
  return out;
}

Variable read(const RelativeAttention& attention, const Variable& h, const Variable& m, const Pass& pass) {
  const KeysValues context = join(attention.project(m), attention.project(h));
  return attention(h, context, attention.project_distances(pass.R), pass);
}

const Config settings = tiny_config();

struct Setting {
  explicit Setting(Index T, Index M, Index clamp_length = 0, Index window = 0)
      : h(random_tensor({2, T, 4}, -1, 1, 11)),
        m(random_tensor({2, M, 4}, -1, 1, 12)),
        pass{settings,
             Mode::evaluate(),
             Variable(distance_sinusoids(M + T, clamp_length, 4)),
             Variable(random_tensor({2, 3}, -1, 1, 13)),
             Variable(random_tensor({2, 3}, -1, 1, 14)),
             visible_keys(T, random_memory(settings, 2, M, M), window)} {}

  Tensor run(const RelativeAttention& attention) const {
    return read(attention, Variable(h), Variable(m), pass).value();
  }

  Tensor h, m;
  Pass pass;
};

RelativeAttention tiny_attention() {
  Random random(1);
  return RelativeAttention(tiny_config(), random);
}

}  // namespace

TEST_CASE("Attention is the sum over visible keys weighted by the four terms, taken one score at a time") {
  const RelativeAttention attention = tiny_attention();
  for (const Index T : {1, 2, 5}) {
    for (const Index M : {0, 1, 4}) {
      for (const Index clamp_length : {0, 2}) {
        for (const Index window : {0, 3}) {
          CAPTURE(T);
          CAPTURE(M);
          CAPTURE(clamp_length);
          CAPTURE(window);
          const Setting s(T, M, clamp_length, window);
          const Tensor hidden = attention_mask(s.pass.visible).broadcast_to({2, 1, T, M + T});
          check_close(s.run(attention),
                      attention_by_terms(attention, s.h, concat({s.m, s.h}, 1), s.pass, hidden, clamp_length),
                      rounding);
        }
      }
    }
  }
}

TEST_CASE("Without memory and segment there is nothing to attend and nothing comes back") {
  CHECK(Setting(0, 0).run(tiny_attention()).shape() == Shape{2, 0, 4});
  CHECK(Setting(0, 3).run(tiny_attention()).shape() == Shape{2, 0, 4});
}

TEST_CASE("A query that sees itself only reads its own value, whatever the scores are") {
  const RelativeAttention attention = tiny_attention();
  const Setting s(3, 2, 0, 1);
  const Tensor own = matmul(matmul(Variable(s.h), attention.w_v), attention.w_o).value();
  check_close(s.run(attention), own, rounding);
}

TEST_CASE("A hidden key has weight 0: its content changes nothing, bit for bit, and gets no gradient") {
  const RelativeAttention attention = tiny_attention();
  Setting s(3, 2);
  s.pass.visible.start = {1};  // key 0 is of another text
  const Tensor before = s.run(attention);
  const Variable m = parameter(s.m.clone());
  backward(sum(read(attention, Variable(s.h), m, s.pass)));
  CHECK(same_bits(m.gradient().narrow(1, 0, 1), Tensor::zeros({2, 1, 4})));
  CHECK_FALSE(same_bits(m.gradient().narrow(1, 1, 1), Tensor::zeros({2, 1, 4})));
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  for (const Real content : {Real(0), Real(-5), Real(1e15), infinity, std::numeric_limits<Real>::quiet_NaN()}) {
    s.m = s.m.clone();
    s.m.narrow(1, 0, 1).fill_in_place(content);
    CHECK(same_bits(s.run(attention), before));
  }
  s.m.narrow(1, 1, 1).fill_in_place(2);
  CHECK_FALSE(same_bits(s.run(attention), before));
}

TEST_CASE("Heads do not mix before the output: one head's weights change its part only") {
  RelativeAttention attention = tiny_attention();
  const Setting s(3, 2);
  Tensor w_o = attention.w_o.value().clone();
  w_o.narrow(0, 3, 3).fill_in_place(0);  // head 1 is not read
  attention.w_o = Variable(w_o);
  const Tensor before = s.run(attention);
  for (Variable* w : {&attention.w_q, &attention.w_k_E, &attention.w_k_R, &attention.w_v}) {
    Tensor changed = w->value().clone();
    changed.narrow(1, 3, 3).fill_in_place(Real(0.7));
    *w = Variable(changed);
  }
  CHECK(same_bits(s.run(attention), before));
}

TEST_CASE("The gradient of attention is that of central differences") {
  if (sizeof(Real) != 8) return;
  const Setting s(3, 2, 0, 4);
  const auto f = [&](const std::vector<Variable>& v) {
    RelativeAttention attention = tiny_attention();
    std::size_t next = 4;
    attention.visit_parameters("", [&](const std::string&, Variable& p) { p = v[next++]; });
    const Pass pass = {settings, Mode::evaluate(), s.pass.R, v[2], v[3], s.pass.visible};
    const Variable z = read(attention, v[0], v[1], pass);
    return sum(z * Variable(random_tensor(z.shape(), -1, 1, 99)));
  };
  std::vector<Tensor> inputs = {s.h, s.m, s.pass.u.value(), s.pass.v.value()};
  RelativeAttention attention = tiny_attention();
  attention.visit_parameters("", [&](const std::string&, Variable& p) { inputs.push_back(p.value()); });
  const GradientCheck check = check_gradient(f, inputs);
  CAPTURE(to_string(check));
  CHECK(check.error < 1e-7);
}

namespace {

Memory memory_of_two_ages(Index M) {
  Memory memory = random_memory(tiny_config(), 2, M, M);
  memory.tokens_read[1] = M / 2;
  return memory;
}

// What attend() takes, for two rows of a batch, of which the second has a reset behind it, and two heads.
struct AttendCase {
  AttendCase(Index T, Index M, Index window)
      : q(random_tensor({2, T, 6}, -1, 1, 21)),
        k(random_tensor({2, M + T, 6}, -1, 1, 22)),
        values(random_tensor({2, M + T, 6}, -1, 1, 23)),
        r(random_tensor({M + T, 6}, -1, 1, 24)),
        u(random_tensor({2, 3}, -1, 1, 25)),
        v(random_tensor({2, 3}, -1, 1, 26)),
        visible(visible_keys(T, memory_of_two_ages(M), window)) {}

  std::vector<Tensor> inputs() const { return {q, k, values, r, u, v}; }
  Variable run(const std::vector<Variable>& x, bool as_formula) const {
    const PlainGuard guard(as_formula);
    const Pass pass = {settings, Mode::evaluate(), Variable(), x[4], x[5], visible};
    return attend(x[0], {x[1], x[2]}, x[3], pass);
  }
  Variable fused(const std::vector<Variable>& x) const { return run(x, false); }
  Variable plain(const std::vector<Variable>& x) const { return run(x, true); }

  Tensor q, k, values, r, u, v;
  VisibleKeys visible;
};

// The value of f at the inputs and the gradients of a sum of it, weighted at random.
std::vector<Tensor> value_and_gradients(const std::function<Variable(const std::vector<Variable>&)>& f,
                                        const std::vector<Tensor>& inputs) {
  std::vector<Variable> x;
  for (const Tensor& input : inputs) x.push_back(parameter(input));
  const Variable z = f(x);
  std::vector<Tensor> out = {z.value()};
  backward(z, random_tensor(z.shape(), -1, 1, 27));
  for (const Variable& input : x) out.push_back(input.gradient());
  return out;
}

}  // namespace

namespace {

void check_fused_is_plain(Index T, Index M, Index window) {
  CAPTURE(T);
  CAPTURE(M);
  CAPTURE(window);
  const AttendCase c(T, M, window);
  const auto fused = value_and_gradients([&](const std::vector<Variable>& x) { return c.fused(x); }, c.inputs());
  const auto plain = value_and_gradients([&](const std::vector<Variable>& x) { return c.plain(x); }, c.inputs());
  REQUIRE(fused.size() == plain.size());
  for (std::size_t i = 0; i < fused.size(); ++i) {
    check_close(fused[i], plain[i], 100 * rounding);
#ifdef SEGUE_PORTABLE
    CHECK(same_bits(fused[i], plain[i]));
#endif
  }
}

}  // namespace

TEST_CASE("Attention in one op is attention in single ops, in values and in every gradient") {
  for (const Index T : {0, 1, 15, 16, 17, 40}) {
    for (const Index M : {0, 1, 33}) {
      for (const Index window : {0, 9}) check_fused_is_plain(T, M, window);
    }
  }
  check_fused_is_plain(17, 1100, 0);  // rows so long that their sums are halved
  check_fused_is_plain(40, 2000, 1500);
}

TEST_CASE("Shapes that do not fit each other are errors of attention, with all of them named") {
  const AttendCase c(3, 4, 0);
  const auto error = [&](std::size_t changed, const Shape& shape) {
    std::vector<Variable> x;
    for (const Tensor& input : c.inputs()) x.emplace_back(input);
    x[changed] = Variable(Tensor::zeros(shape));
    std::string message;
    for (const bool as_formula : {false, true}) message = thrown_by<ShapeError>([&] { c.run(x, as_formula); });
    return message;
  };
  CHECK(holds(error(2, {2, 2, 6}), "keys [2, 7, 6], values [2, 2, 6]"));
  CHECK(holds(error(1, {2, 6, 6}), "keys [2, 6, 6]"));
  CHECK(holds(error(0, {2, 4, 6}), "queries [2, 4, 6]"));
  CHECK(holds(error(3, {6, 6}), "distances [6, 6]"));
  CHECK(holds(error(4, {2, 4}), "u [2, 4]"));
  CHECK(holds(error(0, {1, 3, 6}), "queries [1, 3, 6]"));
}

TEST_CASE(
    "Attention in one op gives the same bits for any number of threads, and a row's do not depend on the others") {
  const AttendCase c(40, 33, 0);
  const auto run = [&](const std::vector<Tensor>& inputs) {
    return value_and_gradients([&](const std::vector<Variable>& x) { return c.fused(x); }, inputs);
  };
  const int before = thread_count();
  set_thread_count(1);
  const auto alone = run(c.inputs());
  for (const int threads : {2, 5}) {
    const SharingThreads sharing(threads);
    const auto shared = run(c.inputs());
    for (std::size_t i = 0; i < alone.size(); ++i) CHECK(same_bits(shared[i], alone[i]));
  }
  set_thread_count(before);
  auto inputs = c.inputs();
  for (std::size_t i = 0; i < 3; ++i) {
    inputs[i] = inputs[i].clone();
    inputs[i].narrow(0, 1, 1).fill_in_place(Real(0.5));
  }
  const auto changed = run(inputs);
  for (std::size_t i = 0; i < 4; ++i) CHECK(same_bits(changed[i].narrow(0, 0, 1), alone[i].narrow(0, 0, 1)));
}

TEST_CASE("Attention in one op never holds a number for each query and key") {
  const AttendCase c(256, 1024, 0);
  std::vector<Variable> x;
  for (const Tensor& input : c.inputs()) x.push_back(parameter(input));
  const std::size_t scores = 2 * 2 * 256 * 1280 * sizeof(Real);  // B H T K
  const auto peak = [&](const Variable& z, std::size_t before) {
    backward(z, Tensor::full(z.shape(), 1));
    return peak_tensor_bytes() - before;
  };
  const std::size_t before = tensor_bytes();
  reset_peak_tensor_bytes();
  CHECK(peak(c.plain(x), before) > 3 * scores);
  for (Variable& input : x) input.clear_gradient();
  reset_peak_tensor_bytes();
  CHECK(peak(c.fused(x), before) < scores);
}

TEST_CASE("The mask is a function of the distance and of a row's reset, never of the lengths") {
  for (const Index T : {0, 1, 3, 5}) {
    for (const Index M : {0, 1, 2, 5, 9}) {
      for (const Index window : {0, 1, 3, 5, 100}) {
        Memory memory = random_memory(tiny_config(), 3, M, 9);
        for (const bool reset : {false, true}) {
          if (reset) memory.tokens_read = {M, M / 2, 0};
          const Tensor hidden = attention_mask(visible_keys(T, memory, window));
          CHECK(hidden.shape() == Shape{reset && M > 0 ? 3 : 1, 1, T, M + T});
          for (Index b = 0; b < hidden.dim(0); ++b) {
            for (Index i = 0; i < T; ++i) {
              for (Index j = 0; j < M + T; ++j) {
                const Index distance = (M + i) - j, forgotten = M - memory.visible(b);
                const bool visible = distance >= 0 && (window == 0 || distance < window) && j >= forgotten;
                CHECK(hidden.at({b, 0, i, j}) == (visible ? 0 : 1));
              }
            }
          }
        }
      }
    }
  }
}

TEST_CASE("Three queries behind two positions with a window of five: nothing but the future is hidden") {
  const Tensor hidden = attention_mask(visible_keys(3, random_memory(tiny_config(), 1, 2, 5), 5));
  CHECK(hidden.to_vector() == std::vector<Real>{0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0});
  const Tensor narrower = attention_mask(visible_keys(3, random_memory(tiny_config(), 1, 2, 5), 2));
  CHECK(narrower.to_vector() == std::vector<Real>{1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0});
}

}  // namespace segue::xl_attention_test
