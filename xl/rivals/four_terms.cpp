#include "xl/rivals/four_terms.hpp"

#include "autograd/arithmetic.hpp"
#include "autograd/matmul.hpp"
#include "autograd/shaping.hpp"
#include "autograd/tools/functions.hpp"
#include "nn/linear.hpp"
#include "xl/relative_shift.hpp"
#include "xl/rivals/distances.hpp"

namespace segue {
namespace {

// What two terms have on their left, q + bias, with either to be left out.
Variable left_factor(const Variable& q, bool with_q, const Variable& bias, bool with_bias) {
  const Variable b = reshape(bias, {bias.dim(0), 1, bias.dim(1)});  // [H, 1, Dh]
  if (with_q && with_bias) return q + b;
  if (with_q) return q;
  return with_bias ? broadcast_to(b, q.shape()) : Variable(Tensor::zeros(q.shape()));
}

}  // namespace

FourTerms::FourTerms(const Config& c, const Encoding& e, Random& random)
    : encoding(e), w_k_R(random_matrix(c.width, c.heads * c.head_width, random, "w_k_R")) {
  if (e.position_in_values) w_v_R = random_matrix(c.width, c.heads * c.head_width, random, "w_v_R");
}

Variable FourTerms::scores(const Variable& q, const Variable& k, const Pass& pass) const {
  const Encoding& e = encoding;
  const Variable r = split_heads(matmul(pass.R, w_k_R), q.dim(1));          // [H, K, Dh]
  const Variable to_content = left_factor(q, e.term_a, pass.u, e.term_c);   // [B, H, T, Dh]
  const Variable to_position = left_factor(q, e.term_b, pass.v, e.term_d);  // [B, H, T, Dh]
  const Variable content = matmul(to_content, transpose(k, -1, -2));  // (a) + (c)  [B, H, T, K]
  return content +
         relative_shift(matmul(to_position, transpose(r, -1, -2)));  // (b) + (d)  [B, H, T, K]
}

Variable FourTerms::read(const Variable& weights, const Variable& values, const Pass& pass) const {
  const Variable content = weighted_sum(weights, values);  // [B, H, T, Dh]
  if (!encoding.position_in_values) return content;
  const Variable s = split_heads(matmul(pass.R, w_v_R), values.dim(1));  // [H, K, Dh]
  return content + matmul(weights_by_distance(weights), s);              // [B, H, T, Dh]
}

void FourTerms::visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
  visit(prefix + "w_k_R", w_k_R);
  if (encoding.position_in_values) visit(prefix + "w_v_R", w_v_R);
}

}  // namespace segue
