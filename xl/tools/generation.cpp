#include "xl/tools/generation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tensor/fail.hpp"
#include "tensor/math.hpp"

namespace segue {
namespace {

void check_sampling(const std::vector<Real>& logits, const Sampling& sampling, Where where) {
  if (!(sampling.temperature >= 0) || std::isinf(sampling.temperature)) {
    fail<ValueError>(where, "temperature {} is not a number from 0 on", sampling.temperature);
  }
  if (sampling.top_k < 0) fail<ValueError>(where, "top_k {} is below 0", sampling.top_k);
  if (!(sampling.top_p > 0 && sampling.top_p <= 1))
    fail<ValueError>(where, "top_p {} is outside (0, 1]", sampling.top_p);
  Real largest = -std::numeric_limits<Real>::infinity();
  for (const Real logit : logits) {
    if (std::isnan(logit)) fail<ValueError>(where, "cannot draw from logits that are NaN");
    largest = std::max(largest, logit);
  }
  if (std::isinf(largest))
    fail<ValueError>(where, "cannot draw from {} logits whose largest is {}", logits.size(), largest);
}

}  // namespace

Index sample(const Tensor& all_logits, const Sampling& sampling, Random& random, Where where) {
  const std::vector<Real> logits = all_logits.to_vector();
  check_sampling(logits, sampling, where);
  const auto logit = [&](Index token) { return static_cast<double>(logits[static_cast<std::size_t>(token)]); };

  std::vector<Index> tokens(logits.size());  // likeliest first
  std::iota(tokens.begin(), tokens.end(), 0);
  std::sort(tokens.begin(), tokens.end(),
            [&](Index a, Index b) { return logit(a) != logit(b) ? logit(a) > logit(b) : a < b; });
  if (sampling.temperature == 0) return tokens[0];
  if (sampling.top_k > 0 && sampling.top_k < static_cast<Index>(tokens.size())) {
    tokens.resize(static_cast<std::size_t>(sampling.top_k));
  }

  std::vector<double> weights;
  for (const Index token : tokens) {
    weights.push_back(math::exp((logit(token) - logit(tokens[0])) / static_cast<double>(sampling.temperature)));
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  double kept = 0;
  std::size_t count = 0;
  while (count < weights.size() && (count == 0 || kept < static_cast<double>(sampling.top_p) * total)) {
    kept += weights[count++];
  }
  double left = random.uniform() * kept;
  for (std::size_t t = 0; t + 1 < count; ++t) {
    left -= weights[t];
    if (left < 0) return tokens[t];
  }
  return tokens[count - 1];
}

Generator::Generator(const LanguageModel& model, Index memory_length, Where where)
    : model_(model), memory_(empty_memory(model.config, 1, memory_length, where)) {}

void Generator::read(const std::vector<Index>& tokens, Where where) {
  const NoGradientGuard no_gradient;
  const auto T = static_cast<std::size_t>(model_.config.segment_length);
  Memory memory = memory_;
  Tensor logits = logits_;
  for (std::size_t start = 0; start < tokens.size(); start += T) {
    const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(start);
    const std::vector<Index> segment(first, first + static_cast<std::ptrdiff_t>(std::min(T, tokens.size() - start)));
    const Index length = static_cast<Index>(segment.size());
    const Output output = model_(Tokens({1, length}, segment), memory, Mode::evaluate(), where);
    memory = output.memory;
    logits = output.logits.value().narrow(1, length - 1, 1).reshape({-1});
  }
  memory_ = memory;  // only now, so that a bad token leaves all as it was
  logits_ = logits;
}

Index Generator::next(const Sampling& sampling, Random& random, Where where) {
  if (logits_.size() == 0) fail<ValueError>(where, "generation needs a prompt of at least one token");
  const Index token = sample(logits_, sampling, random, where);
  read({token}, where);
  return token;
}

}  // namespace segue
