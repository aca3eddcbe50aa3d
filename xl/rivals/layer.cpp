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
    : heads(c.heads),
      dropout(c.attention_dropout),
      w_q(random_matrix(c.width, c.heads * c.head_width, random, "w_q")),
      w_k_E(random_matrix(c.width, c.heads * c.head_width, random, "w_k_E")),
      scheme(make_scheme(c, encoding, random)),
      w_v(random_matrix(c.width, c.heads * c.head_width, random, "w_v")),
      w_o(random_matrix(c.heads * c.head_width, c.width, random, "w_o")) {}

Variable RivalAttention::scores(const Variable& h, const Variable& context,
                                const Positions& positions) const {
  const Variable q = split_heads(matmul(h, w_q), heads);          // [B, H, T, Dh]
  const Variable k = split_heads(matmul(context, w_k_E), heads);  // [B, H, K, Dh]
  return scale(scheme->scores(q, k, positions), 1 / std::sqrt(static_cast<Real>(q.dim(-1))));
}

Variable RivalAttention::operator()(const Variable& h, const Variable& context,
                                    const Positions& positions, const Mode& mode) const {
  const Variable values = split_heads(matmul(context, w_v), heads);  // [B, H, K, Dh]
  const Variable visible = masked_fill(scores(h, context, positions), positions.hidden,
                                       -std::numeric_limits<Real>::infinity());
  const Variable weights = mode.dropout(softmax(visible), dropout);          // [B, H, T, K]
  return matmul(join_heads(scheme->read(weights, values, positions)), w_o);  // [B, T, D]
}

void RivalAttention::visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
  visit(prefix + "w_q", w_q);
  visit(prefix + "w_k_E", w_k_E);
  scheme->visit_parameters(prefix, visit);
  visit(prefix + "w_v", w_v);
  visit(prefix + "w_o", w_o);
}

RivalLayer::RivalLayer(const Config& config, const Encoding& encoding, Random& random)
    : pre_norm(config.pre_norm),
      dropout(config.dropout),
      attention(config, encoding, random),
      attention_norm(config.width),
      feed_forward(config.width, config.feed_forward_width, random),
      feed_forward_norm(config.width) {}

Variable RivalLayer::operator()(const Variable& h, const Variable& m, const Positions& positions,
                                const Mode& mode) const {
  const Variable context = concat({m, h}, 1);  // [B, K, D]
  if (pre_norm) {
    const Variable normed = attention_norm(context);
    const Variable queries = narrow(normed, 1, m.dim(1), h.dim(1));  // [B, T, D]
    const Variable a = h + mode.dropout(attention(queries, normed, positions, mode), dropout);
    return a + mode.dropout(feed_forward(feed_forward_norm(a), dropout, mode), dropout);
  }
  const Variable a =
      attention_norm(h + mode.dropout(attention(h, context, positions, mode), dropout));
  return feed_forward_norm(a + mode.dropout(feed_forward(a, dropout, mode), dropout));
}

void RivalLayer::visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
  attention.visit_parameters(prefix + "attention.", visit);
  attention_norm.visit_parameters(prefix + "attention_norm.", visit);
  feed_forward.visit_parameters(prefix + "feed_forward.", visit);
  feed_forward_norm.visit_parameters(prefix + "feed_forward_norm.", visit);
}

}  // namespace segue
