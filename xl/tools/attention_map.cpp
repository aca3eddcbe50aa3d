#include "xl/tools/attention_map.hpp"

#include "autograd/matmul.hpp"
#include "autograd/shaping.hpp"
#include "tensor/elementwise.hpp"
#include "tensor/fail.hpp"
#include "tensor/reduce.hpp"

namespace segue {

void for_each_attention(const TransformerXL& model, const Tokens& tokens, const Memory& memory,
                        const AttentionUse& use, Where where) {
  const NoGradientGuard no_gradient;
  const auto observe = [&](std::size_t n, const Layer& layer, const Variable& h, const Variable& m,
                           const Pass& pass) {
    Variable rows = concat({m, h}, 1);  // [B, K, D]
    if (pass.config.pre_norm) rows = layer.attention_norm(rows);
    use(layer.attention, narrow(rows, 1, m.dim(1), h.dim(1)), rows, pass);
    return model.run_layer(n, layer, h, m, pass);
  };
  model.states(tokens, memory, Mode::evaluate(), observe, where);
}

std::vector<Tensor> attention_maps(const TransformerXL& model, const Tokens& tokens,
                                   const Memory& memory, Where where) {
  std::vector<Tensor> maps;
  const auto use = [&maps](const RelativeAttention& attention, const Variable& h,
                           const Variable& rows, const Pass& pass) {
    const Variable q = matmul(h, attention.w_q);
    const Variable r = attention.project_distances(pass.R);
    maps.push_back(attention_weights(q, attention.project(rows).k, r, pass).value());
  };
  for_each_attention(model, tokens, memory, use, where);
  return maps;
}

Tensor head_map(const Tensor& map, Index head, Where where) {
  if (map.rank() != 4 || map.dim(0) < 1) {
    fail<ShapeError>(where, "head_map: a map of shape {}; expected [B, H, T, K]", map.shape());
  }
  const Index B = map.dim(0), H = map.dim(1);
  if (head < 0 || head >= H) fail<RangeError>(where, "head_map: head {} of {}", head, H);
  const Tensor total = sum(map.narrow(1, head, 1), {0, 1});  // [B, 1, T, K] -> [T, K]
  return scale(total, 1 / static_cast<Real>(B));
}

double weight_at_distance(const Tensor& head_map, Index distance, Where where) {
  if (head_map.rank() != 2 || head_map.dim(0) > head_map.dim(1)) {
    fail<ShapeError>(where, "weight_at_distance: a map of shape {}; expected [T, K] with T <= K",
                     head_map.shape());
  }
  if (distance < 0)
    fail<ValueError>(where, "weight_at_distance: expected a distance of 0 or more, got {}",
                     distance);
  const Index T = head_map.dim(0), M = head_map.dim(1) - T;
  double total = 0, count = 0;
  for (Index i = 0; i < T; ++i) {
    if (distance > M + i) continue;
    total += static_cast<double>(head_map.at({i, (M + i) - distance}));
    ++count;
  }
  return count > 0 ? total / count : 0;
}

HeadAtDistance strongest_head(const std::vector<Tensor>& maps, Index distance, Where where) {
  HeadAtDistance best;
  for (std::size_t n = 0; n < maps.size(); ++n) {
    for (Index head = 0; maps[n].rank() == 4 && head < maps[n].dim(1); ++head) {
      const double weight = weight_at_distance(head_map(maps[n], head, where), distance, where);
      if (weight > best.weight) best = {static_cast<Index>(n), head, weight};
    }
  }
  return best;
}

}  // namespace segue
