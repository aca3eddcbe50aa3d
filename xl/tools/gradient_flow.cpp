#include "xl/tools/gradient_flow.hpp"

#include <algorithm>
#include <cmath>

#include "autograd/backward.hpp"
#include "autograd/reductions.hpp"
#include "autograd/shaping.hpp"
#include "nn/loss.hpp"
#include "tensor/elementwise.hpp"
#include "tensor/fail.hpp"

namespace segue {
namespace {

double euclidean_norm(const Tensor& x) {
  double squares = 0;
  for (const Real value : x.to_vector())
    squares += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(squares);
}

// Columns start .. start+length-1 of a text [B, ..].
Tokens text_columns(const Tokens& text, Index start, Index length) {
  Tokens part({text.shape[0], length});
  for (Index b = 0; b < text.shape[0]; ++b) {
    for (Index i = 0; i < length; ++i) part[b * length + i] = text[b * text.shape[1] + start + i];
  }
  return part;
}

void check_reading(const Reading& reading, Where where) {
  if (reading.text.shape.rank() != 2 || reading.length() < 1) {
    fail<ShapeError>(where, "a text to read is [B, L + 1] with L >= 1, got {}", reading.text.shape);
  }
  if (reading.segment_length < 1)
    fail<ValueError>(where, "segment length {} is below 1", reading.segment_length);
}

// A model that keeps the states which one layer reads, segment by segment, [B, T, D] each, and lets
// their gradients be kept.
struct StateRecorder : LanguageModel {
  StateRecorder(const TransformerXL& m, std::size_t layer)
      : LanguageModel(m.config), model(m), recorded_layer(layer) {}

  Output operator()(const Tokens& tokens, const Memory& memory, const Mode& mode,
                    Where where) const override {
    const auto record_states = [this](std::size_t n, const Layer& layer, const Variable& h,
                                      const Variable& m, const Pass& pass) {
      if (n == recorded_layer) {
        recorded.push_back(h);
        recorded.back().keep_gradient();
      }
      return model.run_layer(n, layer, h, m, pass);
    };
    const auto [h, next] = model.states(tokens, memory, mode, record_states, where);
    return {model.logits(h, mode), next};
  }
  void visit_parameters(const std::string&, const ParameterVisitor&) override {}

  const TransformerXL& model;
  std::size_t recorded_layer;
  mutable std::vector<Variable> recorded;
};

}  // namespace

std::vector<ParameterNorm> gradient_norms(const std::vector<Parameter>& parameters) {
  std::vector<ParameterNorm> norms;
  for (const Parameter& p : parameters) {
    const double norm = p.variable.has_gradient() ? euclidean_norm(p.variable.gradient()) : 0;
    norms.push_back({p.name, p.variable.value().size(), norm});
  }
  return norms;
}

Variable last_logits(const LanguageModel& model, const Reading& reading, Where where) {
  check_reading(reading, where);
  const Index L = reading.length(), T = reading.segment_length;
  Memory memory = empty_memory(model.config, reading.text.shape[0], reading.memory_length, where);
  Variable logits;
  for (Index start = 0, end = (L - 1) % T + 1; start < L; start = end, end += T) {
    const Output output =
        model(text_columns(reading.text, start, end - start), memory, Mode::evaluate(), where);
    memory = output.memory;
    logits = output.logits;
  }
  return reshape(narrow(logits, 1, logits.dim(1) - 1, 1),
                 {logits.dim(0), logits.dim(2)});  // [B, V]
}

Variable last_losses(const Variable& logits, const Reading& reading, Where where) {
  check_reading(reading, where);
  const Tokens targets = text_columns(reading.text, reading.length(), 1);
  return cross_entropy(logits, Tokens({targets.size()}, targets.ids), where);
}

std::vector<double> gradient_by_distance(const TransformerXL& model, const Reading& reading,
                                         Index layer, Where where) {
  if (layer < 0 || layer >= model.config.layers) {
    fail<RangeError>(where, "layer {} of {} layers", layer, model.config.layers);
  }
  const StateRecorder recorder(model, static_cast<std::size_t>(layer));
  backward(sum(last_losses(last_logits(recorder, reading, where), reading,
                           where)));  // rows do not mix, so each state has its own row's gradient

  const std::vector<Variable>& states = recorder.recorded;
  std::vector<double> norms;  // the last token first
  for (auto segment = states.rbegin(); segment != states.rend(); ++segment) {
    const Index B = segment->dim(0), length = segment->dim(1);
    for (Index i = length - 1; i >= 0; --i) {
      double total = 0;
      for (Index b = 0; b < B && segment->has_gradient(); ++b) {
        total += euclidean_norm(segment->gradient().narrow(0, b, 1).narrow(1, i, 1));
      }
      norms.push_back(total / static_cast<double>(B));
    }
  }
  return norms;
}

Influence influence_by_distance(const LanguageModel& model, const Reading& reading,
                                const std::function<bool(Index done)>& report, Where where) {
  const NoGradientGuard no_gradient;
  const Index V = model.config.vocabulary;
  if (V < 2)
    fail<ValueError>(where, "influence: a vocabulary of {} has no other token to exchange one for",
                     V);
  const Variable logits = last_logits(model, reading, where),
                 losses = last_losses(logits, reading, where);
  const Index B = logits.dim(0), columns = reading.length() + 1;
  Influence influence;
  for (Index distance = 0; distance < reading.length(); ++distance) {
    Reading changed = reading;
    for (Index b = 0; b < B; ++b) {
      Index& token = changed.text[(b + 1) * columns - 2 - distance];
      token = (token + 1) % V;
    }
    const Variable new_logits = last_logits(model, changed, where);
    const Tensor change = sub(new_logits.value(), logits.value());
    const Tensor loss_change = sub(last_losses(new_logits, changed, where).value(), losses.value());
    double logits_total = 0, loss_total = 0;
    for (Index b = 0; b < B; ++b) {
      logits_total += euclidean_norm(change.narrow(0, b, 1));
      loss_total += std::abs(static_cast<double>(loss_change.at({b})));
    }
    influence.logits.push_back(logits_total / static_cast<double>(B));
    influence.loss.push_back(loss_total / static_cast<double>(B));
    if (report && !report(distance + 1)) break;
  }
  return influence;
}

}  // namespace segue
