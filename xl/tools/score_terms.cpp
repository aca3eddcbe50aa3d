#include "xl/tools/score_terms.hpp"

#include <cmath>

#include "autograd/arithmetic.hpp"
#include "autograd/matmul.hpp"
#include "autograd/shaping.hpp"
#include "xl/relative_shift.hpp"
#include "xl/tools/attention_map.hpp"

namespace segue {

ScoreTerms score_terms(const RelativeAttention& attention, const Variable& h,
                       const Variable& context, const Pass& pass) {
  const NoGradientGuard no_gradient;
  const Index H = pass.u.dim(0);
  const Index Dh = pass.u.dim(1);
  const Variable q = split_heads(matmul(h, attention.w_q), H);          // [B, H, T, Dh]
  const Variable k = split_heads(matmul(context, attention.w_k_E), H);  // [B, H, K, Dh]
  const Variable r = split_heads(matmul(pass.R, attention.w_k_R), H);   // [H, K, Dh]
  const auto for_each_query = [&](const Variable& bias) {               // [H, Dh] -> [B, H, T, Dh]
    return Variable(bias.value().reshape({H, 1, Dh}).broadcast_to(q.shape()));
  };

  const auto by_content = [&](const Variable& left) {
    return scale(matmul(left, transpose(k, -1, -2)), 1 / std::sqrt(static_cast<Real>(Dh))).value();
  };
  const auto by_position = [&](const Variable& left) {
    return scale(relative_shift(matmul(left, transpose(r, -1, -2))),
                 1 / std::sqrt(static_cast<Real>(Dh)))
        .value();
  };
  return {by_content(q), by_position(q), by_content(for_each_query(pass.u)),
          by_position(for_each_query(pass.v))};
}

std::vector<ScoreTerms> score_terms(const TransformerXL& model, const Tokens& tokens,
                                    const Memory& memory, Where where) {
  std::vector<ScoreTerms> terms;
  const auto use = [&terms](const RelativeAttention& attention, const Variable& h,
                            const Variable& context, const Pass& pass) {
    terms.push_back(score_terms(attention, h, context, pass));
  };
  for_each_attention(model, tokens, memory, use, where);
  return terms;
}

}  // namespace segue
