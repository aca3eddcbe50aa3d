#include "xl/tools/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "autograd/shaping.hpp"
#include "nn/loss.hpp"
#include "tensor/fail.hpp"
#include "xl/streams.hpp"
#include "xl/tools/memory_cache.hpp"

namespace segue {
namespace {

// What has been summed up so far.
struct LossSum {
  double nats = 0;
  Index count = 0;

  void add(const Variable& logits, const Tokens& targets, Where where) {
    for (const Real loss : cross_entropy(logits, targets, where).value().to_vector())
      nats += static_cast<double>(loss);
    count += count_targets(targets);
  }
  Evaluation mean() const { return {nats / static_cast<double>(count), count}; }
};

// Tokens begin .. begin + length - 1 of the text, as [1, length].
Tokens stretch_of(const std::vector<Index>& text, Index begin, Index length) {
  const auto first = text.begin() + static_cast<std::ptrdiff_t>(begin);
  return Tokens({1, length}, {first, first + static_cast<std::ptrdiff_t>(length)});
}

void check_sliding(const std::vector<Index>& text, Index window, Index batch, Where where) {
  if (text.size() < 2) {
    fail<ValueError>(where, "evaluate_sliding: a text of {} tokens has none to predict",
                     text.size());
  }
  if (window < 1 || batch < 1) {
    fail<ValueError>(where, "evaluate_sliding: {} windows of {} tokens are not possible", batch,
                     window);
  }
  const Index lowest =
      *std::min_element(text.begin(), text.end());  // one of them means "ignored" as a target
  if (lowest < 0) fail<RangeError>(where, "evaluate_sliding: token {} is below 0", lowest);
}

}  // namespace

double Evaluation::perplexity() const { return std::exp(nats); }
double Evaluation::bits() const { return nats / std::numbers::ln2; }
double Evaluation::bits_per(Index units) const {
  if (units <= 0) return std::numeric_limits<double>::quiet_NaN();
  return bits() * static_cast<double>(count) / static_cast<double>(units);
}

Evaluation evaluate(const LanguageModel& model, const std::vector<Index>& text,
                    Index segment_length, Index memory_length, Index batch,
                    const EvaluationReport& report, Where where) {
  const NoGradientGuard no_gradient;
  Streams streams(text, batch, segment_length, Tail::keep, where);
  Memory memory = empty_memory(model.config, batch, memory_length, where);
  const auto reader = reading_model(model);
  LossSum sum;
  for (Index s = 0; s < streams.segments(); ++s) {
    const Batch segment = streams.next();
    const Output output = (*reader)(segment.inputs, memory, Mode::evaluate(), where);
    sum.add(output.logits, segment.targets, where);
    memory = output.memory;
    if (report && !report(sum.count, static_cast<Index>(text.size()) - 1)) break;
  }
  return sum.mean();
}

Evaluation evaluate_sliding(const LanguageModel& model, const std::vector<Index>& text,
                            Index window, Index batch, const EvaluationReport& report,
                            Where where) {
  check_sliding(text, window, batch, where);
  const NoGradientGuard no_gradient;
  const Index last = static_cast<Index>(text.size()) - 1;  // the last target
  const auto logits = [&](const Tokens& windows) {
    // The limit is never filled by the one pass; it is the window where same_length asks for one.
    return model(windows, empty_memory(model.config, windows.shape[0], window), Mode::evaluate(),
                 where)
        .logits;
  };
  LossSum sum;
  // The first targets have fewer tokens before them than a window holds; one causal pass predicts
  // each from all of these.
  const Index first = std::min(window, last);
  sum.add(logits(stretch_of(text, 0, first)), stretch_of(text, 1, first), where);
  bool go_on = !report || report(sum.count, last);
  for (Index target = first + 1, B = 0; target <= last && go_on; target += B) {
    B = std::min(batch, last - target + 1);
    Tokens windows({B, window}), targets({B, 1});
    for (Index b = 0; b < B; ++b) {
      const auto behind = text.begin() + static_cast<std::ptrdiff_t>(target + b);
      std::copy(behind - static_cast<std::ptrdiff_t>(window), behind,
                windows.ids.begin() + static_cast<std::ptrdiff_t>(b * window));
      targets[b] = *behind;
    }
    sum.add(narrow(logits(windows), 1, window - 1, 1), targets, where);  // [B, 1, V]
    go_on = !report || report(sum.count, last);
  }
  return sum.mean();
}

Index count_characters(const std::string& text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

}  // namespace segue
