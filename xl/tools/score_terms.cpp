#include "xl/tools/score_terms.hpp"

#include <cmath>

#include "autograd/arithmetic.hpp"
#include "autograd/matmul.hpp"
#include "autograd/shaping.hpp"
#include "xl/relative_shift.hpp"

namespace segue {

namespace {

// The model, which notes the terms of each layer before that runs. A copy shares the parameters.
struct TermRecorder : TransformerXL {
  TermRecorder(const TransformerXL& model, std::vector<ScoreTerms>& out) : TransformerXL(model), terms(out) {}

  Variable run_layer(std::size_t n, const Variable& h, const Variable& m, const Positions& positions,
                     const Mode& mode) const override {
    const Layer& layer = layers[n];
    Variable context = concat({m, h}, 1);  // [B, K, D]
    if (layer.pre_norm) context = layer.attention_norm(context);
    const Variable queries = narrow(context, 1, m.dim(1), h.dim(1));  // [B, T, D]
    terms.push_back(score_terms(layer.attention, queries, context, positions));
    return TransformerXL::run_layer(n, h, m, positions, mode);
  }

  std::vector<ScoreTerms>& terms;
};

}  // namespace

ScoreTerms score_terms(const RelativeAttention& attention, const Variable& h, const Variable& context,
                       const Positions& positions) {
  const NoGradientGuard no_gradient;
  const Variable q = split_heads(matmul(h, attention.w_q), attention.heads);              // [B, H, T, Dh]
  const Variable k = split_heads(matmul(context, attention.w_k_E), attention.heads);      // [B, H, K, Dh]
  const Variable r = split_heads(matmul(positions.R, attention.w_k_R), attention.heads);  // [H, K, Dh]
  const Index H = attention.heads, Dh = q.dim(-1);
  const auto for_each_query = [&](const Variable& bias) {  // [H, Dh] -> [B, H, T, Dh]
    return Variable(bias.value().reshape({H, 1, Dh}).broadcast_to(q.shape()));
  };

  const auto by_content = [&](const Variable& left) {
    return scale(matmul(left, transpose(k, -1, -2)), 1 / std::sqrt(static_cast<Real>(Dh))).value();
  };
  const auto by_position = [&](const Variable& left) {
    return scale(relative_shift(matmul(left, transpose(r, -1, -2))), 1 / std::sqrt(static_cast<Real>(Dh))).value();
  };
  return {by_content(q), by_position(q), by_content(for_each_query(positions.u)),
          by_position(for_each_query(positions.v))};
}

std::vector<ScoreTerms> score_terms(const TransformerXL& model, const Tokens& tokens, const Memory& memory,
                                    Where where) {
  const NoGradientGuard no_gradient;
  std::vector<ScoreTerms> terms;
  TermRecorder(model, terms)(tokens, memory, Mode::evaluate(), where);
  return terms;
}

}  // namespace segue
