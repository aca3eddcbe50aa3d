#include "xl/layer.hpp"

#include "autograd/arithmetic.hpp"

namespace segue {

Layer::Layer(const Config& config, Random& random)
    : pre_norm(config.pre_norm),
      dropout(config.dropout),
      attention(config, random),
      attention_norm(config.width),
      feed_forward(config.width, config.feed_forward_width, random),
      feed_forward_norm(config.width) {}

Projections Layer::project(const Variable& m, const Variable& R) const {
  return attention.project(pre_norm ? attention_norm(m) : m,
                           R);  // memory and segment go through the same norm
}

Variable Layer::operator()(const Variable& h, Projections& known, const Positions& positions,
                           const Mode& mode) const {
  if (pre_norm) {
    const Variable a =
        h + mode.dropout(attention(attention_norm(h), known, positions, mode), dropout);
    return a + mode.dropout(feed_forward(feed_forward_norm(a), dropout, mode), dropout);
  }
  const Variable a =
      attention_norm(h + mode.dropout(attention(h, known, positions, mode), dropout));
  return feed_forward_norm(a + mode.dropout(feed_forward(a, dropout, mode), dropout));
}

void Layer::visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
  attention.visit_parameters(prefix + "attention.", visit);
  attention_norm.visit_parameters(prefix + "attention_norm.", visit);
  feed_forward.visit_parameters(prefix + "feed_forward.", visit);
  feed_forward_norm.visit_parameters(prefix + "feed_forward_norm.", visit);
}

}  // namespace segue
