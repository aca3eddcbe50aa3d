#include "xl/rivals/layer.hpp"

#include <cmath>
#include <limits>

#include "autograd/arithmetic.hpp"
#include "autograd/matmul.hpp"
#include "autograd/shaping.hpp"
#include "autograd/softmax.hpp"
#include "nn/linear.hpp"
#include "xl/rivals/four_terms.hpp"
#include "xl/rivals/learned_relative.hpp"
#include "xl/rivals/shaw.hpp"

namespace segue {
namespace {

std::unique_ptr<PositionScheme> make_scheme(const Config& config, const Encoding& e,
                                            Random& random) {
  switch (e.scheme) {
    case Scheme::shaw:
      return std::make_unique<Shaw>(config, e.rows, random);
    case Scheme::learned_relative:
      return std::make_unique<LearnedRelative>(config, e.rows, random);
    case Scheme::transformer_xl:
      return std::make_unique<FourTerms>(config, e, random);
    default:  // what knows no position, or brings it along in the input
      return std::make_unique<PositionScheme>();
  }
}

}  // namespace

// The members draw their numbers in the order of RelativeAttention: the same seed gives the same
// weights.
RivalAttention::RivalAttention(const Config& c, const Encoding& encoding, Random& random)
    : w_q(random_matrix(c.width, c.heads * c.head_width, random, "w_q")),
      w_k_E(random_matrix(c.width, c.heads * c.head_width, random, "w_k_E")),
      scheme(make_scheme(c, encoding, random)),
      w_v(random_matrix(c.width, c.heads * c.head_width, random, "w_v")),
      w_o(random_matrix(c.heads * c.head_width, c.width, random, "w_o")) {}

Variable RivalAttention::scores(const Variable& h, const Variable& rows, const Pass& pass) const {
  const Index H = pass.config.heads;
  const Variable q = split_heads(matmul(h, w_q), H);       // [B, H, T, Dh]
  const Variable k = split_heads(matmul(rows, w_k_E), H);  // [B, H, K, Dh]
  return scale(scheme->scores(q, k, pass), 1 / std::sqrt(static_cast<Real>(q.dim(-1))));
}

Variable RivalAttention::operator()(const Variable& h, const Variable& rows,
                                    const Pass& pass) const {
  const Variable values = split_heads(matmul(rows, w_v), pass.config.heads);  // [B, H, K, Dh]
  const Variable visible = masked_fill(scores(h, rows, pass), attention_mask(pass.visible),
                                       -std::numeric_limits<Real>::infinity());
  const Variable weights =
      pass.mode.dropout(softmax(visible), pass.config.attention_dropout);  // [B, H, T, K]
  return matmul(join_heads(scheme->read(weights, values, pass)), w_o);     // [B, T, D]
}

void RivalAttention::visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
  visit(prefix + "w_q", w_q);
  visit(prefix + "w_k_E", w_k_E);
  scheme->visit_parameters(prefix, visit);
  visit(prefix + "w_v", w_v);
  visit(prefix + "w_o", w_o);
}

RivalLayer::RivalLayer(const Config& config, const Encoding& encoding, Random& random)
    : attention(config, encoding, random),
      attention_norm(config.width),
      feed_forward(config.width, config.feed_forward_width, random),
      feed_forward_norm(config.width) {}

Variable RivalLayer::operator()(const Variable& h, const Variable& m, const Pass& pass) const {
  const Variable memory = pass.config.pre_norm ? attention_norm(m) : m;
  const Variable a = residual(h, attention_norm, pass, [&](const Variable& x) {
    return attention(x, concat({memory, x}, 1), pass);
  });
  return residual(a, feed_forward_norm, pass, [&](const Variable& x) {
    return feed_forward(x, pass.config.dropout, pass.mode);
  });
}

void RivalLayer::visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
  attention.visit_parameters(prefix + "attention.", visit);
  attention_norm.visit_parameters(prefix + "attention_norm.", visit);
  feed_forward.visit_parameters(prefix + "feed_forward.", visit);
  feed_forward_norm.visit_parameters(prefix + "feed_forward_norm.", visit);
}

}  // namespace segue
