#include "xl/tools/effective_context.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tensor/fail.hpp"
#include "xl/tools/gradient_flow.hpp"

namespace segue {
namespace {

void check_contexts(const std::vector<Index>& text, const std::vector<Index>& targets, Index c,
                    Index batch, Where where) {
  if (c < 1 || batch < 1)
    fail<ValueError>(where, "context_losses: {} contexts of {} tokens are not possible", batch, c);
  const Index length = static_cast<Index>(text.size());
  for (const Index t : targets) {
    if (t >= c && t < length) continue;
    fail<ValueError>(where, "context_losses: target {} of a text of {} tokens, with {} before it",
                     t, length, c);
  }
}

// The c tokens before each of B targets, and the targets: [B, c + 1].
Tokens tokens_before(const std::vector<Index>& text, const Index* targets, Index B, Index c) {
  Tokens tokens({B, c + 1});
  for (Index b = 0; b < B; ++b) {
    const auto target = text.begin() + static_cast<std::ptrdiff_t>(targets[b]);
    std::copy(target - static_cast<std::ptrdiff_t>(c), target + 1,
              tokens.ids.begin() + static_cast<std::ptrdiff_t>(b * (c + 1)));
  }
  return tokens;
}

// f_i(c, c'): the mean over `positions` of the smaller of b(c, t) and l_i(c', t).
double relative_loss(const std::vector<double>& baseline, const std::vector<double>& losses,
                     const std::vector<std::size_t>& positions) {
  double total = 0;
  for (const std::size_t t : positions) total += std::min(baseline[t], losses[t]);
  return total / static_cast<double>(positions.size());
}

}  // namespace

std::vector<double> context_losses(const LanguageModel& model, const std::vector<Index>& text,
                                   const std::vector<Index>& targets, Index c, Index memory_length,
                                   Index batch, const std::function<bool(Index)>& report,
                                   Where where) {
  check_contexts(text, targets, c, batch, where);
  const NoGradientGuard no_gradient;
  const Index count = static_cast<Index>(targets.size());
  std::vector<double> losses;
  for (Index done = 0; done < count;) {
    const Index B = std::min(batch, count - done);
    const Reading reading = {tokens_before(text, targets.data() + done, B, c),
                             model.config.segment_length, memory_length};
    for (const Real loss :
         last_losses(last_logits(model, reading, where), reading, where).value().to_vector()) {
      losses.push_back(static_cast<double>(loss));
    }
    done += B;
    if (report && !report(done)) break;
  }
  return losses;
}

void ContextTable::check(Where where) const {
  if (losses.empty() || contexts.empty())
    fail<ValueError>(where, "context table: no model or no context");
  if (std::adjacent_find(contexts.begin(), contexts.end(), std::greater_equal<Index>()) !=
      contexts.end()) {
    fail<ValueError>(where, "context table: each context must be longer than the one before");
  }
  const std::size_t targets = losses[0].empty() ? 0 : losses[0][0].size();
  if (targets == 0) fail<ValueError>(where, "context table: no target");
  for (const auto& model : losses) {
    if (model.size() != contexts.size()) {
      fail<ValueError>(where, "context table: a model with losses for {} of {} contexts",
                       model.size(), contexts.size());
    }
    for (const auto& row : model) {
      const bool numbers =
          std::none_of(row.begin(), row.end(), [](double loss) { return std::isnan(loss); });
      if (row.size() != targets || !numbers) {
        fail<ValueError>(where, "context table: expected {} losses that are numbers in each row",
                         targets);
      }
    }
  }
}

std::vector<double> ContextTable::baseline(std::size_t k) const {
  std::vector<double> best = losses[0][k];
  for (const auto& model : losses) {
    for (std::size_t t = 0; t < best.size(); ++t) best[t] = std::min(best[t], model[k][t]);
  }
  return best;
}

std::vector<std::size_t> hardest(const std::vector<double>& values, double r, Where where) {
  if (!(r > 0 && r <= 1))
    fail<ValueError>(where, "hardest: expected a share above 0 and at most 1, got {}", r);
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  });
  const double count = r * static_cast<double>(values.size());
  order.resize(
      static_cast<std::size_t>(std::ceil(count - 1e-9)));  // 0.1 * 30 is a little more than 3
  return order;
}

double relative_gain(const ContextTable& table, std::size_t i, std::size_t k, std::size_t next,
                     double r, Where where) {
  table.check(where);
  if (i >= table.losses.size() || next >= table.contexts.size() || k > next) {
    fail<RangeError>(where,
                     "relative gain: model {} from context {} to {} of {} models and {} contexts",
                     i, k, next, table.losses.size(), table.contexts.size());
  }
  const std::vector<double> baseline = table.baseline(k);
  const std::vector<std::size_t> positions = hardest(baseline, r, where);
  const double before = relative_loss(baseline, baseline, positions);  // f_i(c, c)
  const double after = relative_loss(baseline, table.losses[i][next], positions);
  return 1 - std::exp(after - before);  // that is (exp f_i(c, c) - exp f_i(c, c')) / exp f_i(c, c)
}

Index effective_context(const ContextTable& table, std::size_t i, double r, double threshold,
                        Where where) {
  std::size_t k = 0;
  while (k + 1 < table.contexts.size() && relative_gain(table, i, k, k + 1, r, where) >= threshold)
    ++k;
  relative_gain(table, i, k, k, r, where);  // a table of one context is checked, too
  return table.contexts[k];
}

}  // namespace segue
