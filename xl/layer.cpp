#include "xl/layer.hpp"

#include "autograd/arithmetic.hpp"

namespace segue {

Layer::Layer(const Config& config, Random& random)
    : attention(config, random),
      attention_norm(config.width),
      feed_forward(config.width, config.feed_forward_width, random),
      feed_forward_norm(config.width) {}

Variable Layer::operator()(const Variable& h, const Variable& m, const Pass& pass) const {
  const KeysValues memory = project_memory(m, pass.config);
  const auto context = [&](const Variable& segment) {
    return join(memory, attention.project(segment));  // [SG(m) ; h]
  };
  return read(h, context, attention.project_distances(pass.R), pass);
}

KeysValues Layer::project_memory(const Variable& m, const Config& config) const {
  return attention.project(config.pre_norm ? attention_norm(m) : m);
}

Variable Layer::read(const Variable& h, const Context& context, const Variable& r,
                     const Pass& pass) const {
  const Variable a = residual(h, attention_norm, pass,
                              [&](const Variable& x) { return attention(x, context(x), r, pass); });
  return residual(a, feed_forward_norm, pass, [&](const Variable& x) {
    return feed_forward(x, pass.config.dropout, pass.mode);
  });
}

Variable residual(const Variable& h, const LayerNorm& norm, const Pass& pass,
                  const std::function<Variable(const Variable&)>& f) {
  const Real rate = pass.config.dropout;
  if (pass.config.pre_norm) return h + pass.mode.dropout(f(norm(h)), rate);
  return norm(h + pass.mode.dropout(f(h), rate));
}

void Layer::visit_parameters(const std::string& prefix, const ParameterVisitor& visit) {
  attention.visit_parameters(prefix + "attention.", visit);
  attention_norm.visit_parameters(prefix + "attention_norm.", visit);
  feed_forward.visit_parameters(prefix + "feed_forward.", visit);
  feed_forward_norm.visit_parameters(prefix + "feed_forward_norm.", visit);
}

}  // namespace segue
