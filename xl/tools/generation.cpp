#include "xl/tools/generation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tensor/fail.hpp"
#include "tensor/indexing.hpp"
#include "tensor/kernels/math.hpp"
#include "xl/tools/memory_cache.hpp"

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
    fail<ValueError>(where, "cannot draw from {} logits whose largest is {}", logits.size(),
                     largest);
}

void check_prompts(const std::vector<std::vector<Index>>& prompts, const GenerationOptions& options,
                   const std::vector<Random>& random, Where where) {
  if (options.length < 0)
    fail<ValueError>(where, "generate: a length of {} tokens is below 0", options.length);
  if (random.size() != prompts.size()) {
    fail<ValueError>(where, "generate: {} random generators for {} prompts; each row needs its own",
                     random.size(), prompts.size());
  }
  for (std::size_t b = 0; b < prompts.size(); ++b) {
    if (prompts[b].empty())
      fail<ValueError>(where, "generate: prompt {} is empty; it needs at least one token", b);
  }
}

// Reads one segment [B, T]; `memory` becomes the one behind it. The prediction for the token that
// follows, [B, V].
Tensor read_segment(const LanguageModel& model, const Tokens& tokens, Memory& memory, Where where) {
  const NoGradientGuard no_gradient;
  const Output output = model(tokens, memory, Mode::evaluate(), where);
  memory = output.memory;
  const Index B = tokens.shape[0], T = tokens.shape[1];
  return output.logits.value().narrow(1, T - 1, 1).reshape({B, -1});
}

}  // namespace

Index sample(const Tensor& all_logits, const Sampling& sampling, Random& random, Where where) {
  const std::vector<Real> logits = all_logits.to_vector();
  check_sampling(logits, sampling, where);
  const auto logit = [&](Index token) {
    return static_cast<double>(logits[static_cast<std::size_t>(token)]);
  };

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
    weights.push_back(
        math::exp((logit(token) - logit(tokens[0])) / static_cast<double>(sampling.temperature)));
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  double kept = 0;
  std::size_t count = 0;
  while (count < weights.size() &&
         (count == 0 || kept < static_cast<double>(sampling.top_p) * total)) {
    kept += weights[count++];
  }
  double left = random.uniform() * kept;
  for (std::size_t t = 0; t + 1 < count; ++t) {
    left -= weights[t];
    if (left < 0) return tokens[t];
  }
  return tokens[count - 1];
}

Generator::Generator(const LanguageModel& model, std::optional<Index> memory_length, Where where)
    : model_(reading_model(model)),
      memory_(empty_memory(model.config, 1, memory_length.value_or(model.config.memory_length),
                           where)) {}

void Generator::read(const std::vector<Index>& tokens, Where where) {
  const auto T = static_cast<std::size_t>(model_->config.segment_length);
  Memory memory = memory_;
  Tensor logits = logits_;
  for (std::size_t start = 0; start < tokens.size(); start += T) {
    const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(start);
    const std::vector<Index> segment(
        first, first + static_cast<std::ptrdiff_t>(std::min(T, tokens.size() - start)));
    const Index length = static_cast<Index>(segment.size());
    logits = read_segment(*model_, Tokens({1, length}, segment), memory, where).reshape({-1});
  }
  memory_ = memory;  // only now, so that a bad token leaves all as it was
  logits_ = logits;
}

Index Generator::next(const Sampling& sampling, Random& random, Where where) {
  if (logits_.size() == 0)
    fail<ValueError>(where, "generation needs a prompt of at least one token");
  const Index token = sample(logits_, sampling, random, where);
  read({token}, where);
  return token;
}

Memory join_rows(const std::vector<Memory>& rows, Where where) {
  if (rows.empty()) fail<ValueError>(where, "join_rows: there are no rows to join");
  Index M = 0;
  for (const Memory& row : rows) M = std::max(M, row.length());
  Memory all = rows[0];
  all.tokens_read.clear();
  for (const Memory& row : rows) {
    if (row.batch() != 1 || row.limit != all.limit || row.layers.size() != all.layers.size()) {
      fail<ShapeError>(
          where, "join_rows: a memory of {} rows, {} layers and limit {}; expected 1, {} and {}",
          row.batch(), row.layers.size(), row.limit, all.layers.size(), all.limit);
    }
    all.tokens_read.push_back(row.tokens_read[0]);
  }
  for (std::size_t n = 0; n < all.layers.size(); ++n) {
    std::vector<Tensor> states;
    for (const Memory& row : rows) {
      const Tensor own = row.layers[n].value();
      states.push_back(
          concat({Tensor::zeros({1, M - own.dim(1), own.dim(2)}), own}, 1, where));  // [1, M, D]
    }
    all.layers[n] = Variable(concat(states, 0, where));  // [B, M, D]
  }
  return all;
}

std::vector<std::vector<Index>> generate(const LanguageModel& model,
                                         const std::vector<std::vector<Index>>& prompts,
                                         const GenerationOptions& options,
                                         std::vector<Random>& random, Where where) {
  check_prompts(prompts, options, random, where);
  std::vector<std::vector<Index>> texts(prompts.size());
  if (prompts.empty()) return texts;
  std::vector<Memory> rows;
  std::vector<Tensor> predictions;
  for (const std::vector<Index>& prompt : prompts) {
    Generator generator(model, options.memory_length, where);
    generator.read(prompt, where);
    rows.push_back(generator.memory());
    predictions.push_back(generator.logits().reshape({1, -1}));
  }
  const Index B = static_cast<Index>(prompts.size());
  Memory memory = join_rows(rows, where);
  const auto reader = reading_model(model);
  Tensor logits = concat(predictions, 0, where);  // [B, V]
  std::vector<bool> ended(prompts.size(), false);
  for (Index step = 0; step < options.length; ++step) {
    Tokens chosen({B, 1});  // a row that has ended goes on with token 0, which nobody sees
    for (Index b = 0; b < B; ++b) {
      const auto row = static_cast<std::size_t>(b);
      if (ended[row]) continue;
      chosen[b] =
          sample(logits.narrow(0, b, 1).reshape({-1}), options.sampling, random[row], where);
      ended[row] = chosen[b] == options.stop_token;
      if (!ended[row]) texts[row].push_back(chosen[b]);
    }
    if (std::find(ended.begin(), ended.end(), false) == ended.end()) break;
    if (step + 1 < options.length) logits = read_segment(*reader, chosen, memory, where);
  }
  return texts;
}

}  // namespace segue
