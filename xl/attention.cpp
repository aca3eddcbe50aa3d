#include "xl/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/arithmetic.hpp"
#include "autograd/matmul.hpp"
#include "autograd/shaping.hpp"
#include "autograd/softmax.hpp"
#include "nn/linear.hpp"
#include "tensor/elementwise.hpp"
#include "tensor/fail.hpp"
#include "tensor/matmul.hpp"
#include "tensor/plain.hpp"
#include "xl/kernels/tiled_attention.hpp"
#include "xl/relative_shift.hpp"

namespace segue {

KeysValues join(const KeysValues& earlier, const KeysValues& later) {
  return {concat({earlier.k, later.k}, 1), concat({earlier.values, later.values}, 1)};
}

RelativeAttention::RelativeAttention(const Config& c, Random& random)
    : w_q(random_matrix(c.width, c.heads * c.head_width, random, "w_q")),
      w_k_E(random_matrix(c.width, c.heads * c.head_width, random, "w_k_E")),
      w_k_R(random_matrix(c.width, c.heads * c.head_width, random, "w_k_R")),
      w_v(random_matrix(c.width, c.heads * c.head_width, random, "w_v")),
      w_o(random_matrix(c.heads * c.head_width, c.width, random, "w_o")) {}

KeysValues RelativeAttention::project(const Variable& x) const {
  return {matmul(x, w_k_E), matmul(x, w_v)};
}

Variable RelativeAttention::project_distances(const Variable& R) const { return matmul(R, w_k_R); }

Variable RelativeAttention::operator()(const Variable& h, const KeysValues& context,
                                       const Variable& r, const Pass& pass) const {
  const Variable q = matmul(h, w_q);                // [B, T, H Dh]
  return matmul(attend(q, context, r, pass), w_o);  // [B, T, D]
}

void RelativeAttention::visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
  visit(prefix + "w_q", w_q);
  visit(prefix + "w_k_E", w_k_E);
  visit(prefix + "w_k_R", w_k_R);
  visit(prefix + "w_v", w_v);
  visit(prefix + "w_o", w_o);
}

namespace {

void check_attention(const Variable& q, const Variable& k, const Variable& values,
                     const Variable& r, const Pass& pass) {
  const Where where = Where::current();
  const Shape heads = pass.u.shape();
  if (q.shape().rank() != 3 || heads.rank() != 2 || !(pass.v.shape() == heads)) {
    fail<ShapeError>(
        where, "attention: queries {} with u {} and v {}; expected [B, T, H Dh], [H, Dh] twice",
        q.shape(), heads, pass.v.shape());
  }
  const VisibleKeys& visible = pass.visible;
  const Index B = q.dim(0);
  const Index K = visible.M + visible.T;
  const Index row = heads.size();
  const Shape keys = {B, K, row};
  const bool rows_fit = visible.rows() == 1 || visible.rows() == B;
  if (!(q.shape() == Shape{B, visible.T, row}) || !(k.shape() == keys) || !rows_fit ||
      !(values.shape() == keys) || !(r.shape() == Shape{K, row})) {
    fail<ShapeError>(where,
                     "attention: queries {}, keys {}, values {}, distances {}, for {} rows of {} "
                     "queries behind {} positions, u {}",
                     q.shape(), k.shape(), values.shape(), r.shape(), visible.rows(), visible.T,
                     visible.M, heads);
  }
}

}  // namespace

Variable attend(const Variable& q, const KeysValues& context, const Variable& r, const Pass& pass) {
  const auto& [k, values] = context;
  check_attention(q, k, values, r, pass);
  const bool drops = pass.mode.random() != nullptr && pass.config.attention_dropout > 0;
  if (!plain() && !drops) return attend_in_tiles(q, context, r, pass);

  const Variable weights = attention_weights(q, k, r, pass);                        // [B, H, T, K]
  const Variable kept = pass.mode.dropout(weights, pass.config.attention_dropout);  // [B, H, T, K]
  return join_heads(weighted_sum(kept, split_heads(values, pass.u.dim(0))));        // [B, T, H Dh]
}

Variable attention_weights(const Variable& q, const Variable& k, const Variable& r,
                           const Pass& pass) {
  const Index H = pass.u.dim(0);
  const Index Dh = pass.u.dim(1);
  const Variable qu = split_heads(q + reshape(pass.u, {H * Dh}), H);           // [B, H, T, Dh]
  const Variable qv = split_heads(q + reshape(pass.v, {H * Dh}), H);           // [B, H, T, Dh]
  const Variable content = matmul(qu, transpose(split_heads(k, H), -1, -2));   // (a) + (c)
  const Variable distance = matmul(qv, transpose(split_heads(r, H), -1, -2));  // (b) + (d)
  const Variable scores = content + relative_shift(distance);                  // [B, H, T, K]
  const Variable scaled = scale(scores, 1 / std::sqrt(static_cast<Real>(Dh)));
  constexpr Real minus_infinity = -std::numeric_limits<Real>::infinity();
  return softmax(masked_fill(scaled, attention_mask(pass.visible), minus_infinity));
}

namespace {

// Computes those rows of z = w values that are not finite once more, as the sum over the keys whose
// weight is not 0: a product makes NaN of weight 0 times infinity.
void sum_over_weighted(Tensor& z, const Tensor& w, const Tensor& values) {
  const Index T = w.dim(2);
  const Index K = w.dim(3);
  const Index Dh = values.dim(3);
  const Tensor weights = w.contiguous();
  const Tensor source = values.contiguous();
  for (Index query = 0; query < z.size() / Dh; ++query) {  // of all heads and rows
    const Real* const wi = weights.data() + query * K;
    const Real* const head = source.data() + query / T * K * Dh;
    Real* const zi = z.data_in_place() + query * Dh;
    if (std::all_of(zi, zi + Dh, [](Real x) { return std::isfinite(x); })) continue;
    std::fill(zi, zi + Dh, Real(0));
    for (Index j = 0; j < K; ++j) {
      if (wi[j] == 0) continue;
      for (Index d = 0; d < Dh; ++d) zi[d] += wi[j] * head[j * Dh + d];
    }
  }
}

}  // namespace

// z = w values
struct WeightedSum : Node {
  Saved w{this}, values{this};
  void backward(const Tensor& dz) override {
    if (wants(0)) accumulate(0, matmul(dz, values.transpose(-1, -2)));  // dw = dz values^T
    if (wants(1)) accumulate(1, matmul(w.transpose(-1, -2), dz));       // dvalues = w^T dz
  }
};

Variable weighted_sum(const Variable& w, const Variable& values, Where where) {
  auto op = make_node<WeightedSum>();
  op->w = w.value();
  op->values = values.value();
  Tensor z = matmul(op->w, op->values, where);
  if (!all_finite(z)) sum_over_weighted(z, op->w, op->values);
  return record("weighted_sum", op, z, {w, values}, where);
}

Variable split_heads(const Variable& x, Index H) {
  Shape shape = x.shape();
  shape[shape.rank() - 1] = H;
  shape.push_back(x.dim(-1) / H);
  return transpose(reshape(x, shape), -2, -3);  // [.., L, H Dh] -> [.., H, L, Dh]
}

Variable join_heads(const Variable& x) {
  return reshape(transpose(x, 1, 2),
                 {x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});  // [B, H, T, Dh] -> [B, T, H Dh]
}

}  // namespace segue
