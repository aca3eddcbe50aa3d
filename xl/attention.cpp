#include "xl/attention.hpp"

#include <cmath>
#include <limits>

#include "autograd/arithmetic.hpp"
#include "autograd/matmul.hpp"
#include "autograd/shaping.hpp"
#include "autograd/softmax.hpp"
#include "nn/linear.hpp"
#include "tensor/elementwise.hpp"
#include "tensor/fail.hpp"
#include "tensor/map.hpp"
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

// Computes the rows of z = w values that are not finite once more, with 0 in the place of every
// value whose weight is 0: a product makes NaN of 0 times infinity. One row at a time, [B, H, T,
// Dh].
void read_without_hidden(Tensor& z, const Tensor& w, const Tensor& values) {
  for (Index b = 0; b < z.dim(0); ++b) {
    for (Index head = 0; head < z.dim(1); ++head) {
      for (Index i = 0; i < z.dim(2); ++i) {
        Tensor zi = z.narrow(0, b, 1).narrow(1, head, 1).narrow(2, i, 1);  // [1, 1, 1, Dh]
        if (all_finite(zi)) continue;
        const Tensor wi = w.narrow(0, b, 1).narrow(1, head, 1).narrow(2, i, 1);  // [1, 1, 1, K]
        const Tensor hidden = map(wi, [](Real weight) { return weight == 0 ? Real(1) : Real(0); });
        const Tensor read = values.narrow(0, b, 1).narrow(1, head, 1);  // [1, 1, K, Dh]
        zi.copy_in_place(matmul(wi, masked_fill(read, hidden.transpose(-1, -2), 0)));
      }
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
  if (!all_finite(z)) read_without_hidden(z, op->w, op->values);
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
