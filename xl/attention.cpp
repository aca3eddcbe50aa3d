#include "xl/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/arithmetic.hpp"
#include "autograd/matmul.hpp"
#include "autograd/shaping.hpp"
#include "autograd/softmax.hpp"
#include "nn/linear.hpp"
#include "xl/relative_shift.hpp"

namespace segue {

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

RelativeAttention::RelativeAttention(const Config& config, Random& random)
    : heads(config.heads),
      dropout(config.attention_dropout),
      w_q(random_matrix(config.width, config.heads * config.head_width, random, "w_q")),
      w_k_E(random_matrix(config.width, config.heads * config.head_width, random, "w_k_E")),
      w_k_R(random_matrix(config.width, config.heads * config.head_width, random, "w_k_R")),
      w_v(random_matrix(config.width, config.heads * config.head_width, random, "w_v")),
      w_o(random_matrix(config.heads * config.head_width, config.width, random, "w_o")) {}

Projections RelativeAttention::project(const Variable& m, const Variable& R) const {
  return {matmul(m, w_k_E), matmul(m, w_v), matmul(R, w_k_R)};
}

Variable RelativeAttention::operator()(const Variable& h, Projections& known,
                                       const Positions& positions, const Mode& mode) const {
  const Variable q = matmul(h, w_q);                         // [B, T, H Dh]
  known.k = concat({known.k, matmul(h, w_k_E)}, 1);          // [B, K, H Dh]
  known.values = concat({known.values, matmul(h, w_v)}, 1);  // [B, K, H Dh]
  const auto& [k, values, r] = known;
  if (mode.random() == nullptr || dropout == 0)
    return matmul(attend(q, k, values, r, positions), w_o);  // [B, T, D]
  const Variable weights = mode.dropout(attention_weights(q, k, r, positions), dropout);
  return matmul(join_heads(matmul(weights, split_heads(values, heads))), w_o);
}

Variable attention_weights(const Variable& q, const Variable& k, const Variable& r,
                           const Positions& positions) {
  const Index H = positions.u.dim(0), Dh = positions.u.dim(1);
  const Variable qu = split_heads(q, H) + reshape(positions.u, {H, 1, Dh});  // [B, H, T, Dh]
  const Variable qv = split_heads(q, H) + reshape(positions.v, {H, 1, Dh});
  const Variable content =
      matmul(qu, transpose(split_heads(k, H), -1, -2));  // (a) + (c)  [B, H, T, K]
  const Variable distance =
      matmul(qv, transpose(split_heads(r, H), -1, -2));  // (b) + (d)  [B, H, T, K]
  const Variable scores =
      scale(content + relative_shift(distance), 1 / std::sqrt(static_cast<Real>(Dh)));
  return softmax(masked_fill(scores, positions.hidden, -std::numeric_limits<Real>::infinity()));
}

void RelativeAttention::visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
  visit(prefix + "w_q", w_q);
  visit(prefix + "w_k_E", w_k_E);
  visit(prefix + "w_k_R", w_k_R);
  visit(prefix + "w_v", w_v);
  visit(prefix + "w_o", w_o);
}

Tensor attention_mask(Index T, const Memory& memory, Index window) {
  const Index M = memory.length(), K = M + T;
  const bool rows_agree = std::all_of(memory.tokens_read.begin(), memory.tokens_read.end(),
                                      [M](Index read) { return read >= M; });
  const Index B = rows_agree ? 1 : memory.batch();
  Tensor hidden = Tensor::zeros({B, 1, T, K});
  Real* out = hidden.data_in_place();
  for (Index b = 0; b < B; ++b) {
    const Index first = rows_agree ? 0 : M - memory.visible(b);
    for (Index i = 0; i < T; ++i) {
      for (Index j = 0; j < K; ++j) {
        const Index distance = (M + i) - j;
        const bool sees = distance >= 0 && j >= first && (window == 0 || distance < window);
        *out++ = sees ? 0 : 1;
      }
    }
  }
  return hidden;
}

}  // namespace segue
