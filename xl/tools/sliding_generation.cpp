#include "xl/tools/sliding_generation.hpp"

#include <algorithm>

#include "tensor/fail.hpp"

namespace segue {
namespace {

// The last `window` tokens of each text. [B, window]
Tokens last_tokens(const std::vector<std::vector<Index>>& texts, Index window) {
  Tokens tokens({static_cast<Index>(texts.size()), window});
  auto to = tokens.ids.begin();
  for (const std::vector<Index>& text : texts) to = std::copy(text.end() - window, text.end(), to);
  return tokens;
}

}  // namespace

std::vector<std::vector<Index>> generate_sliding(const LanguageModel& model,
                                                 const std::vector<std::vector<Index>>& prompts,
                                                 Index length, const Sampling& sampling,
                                                 std::vector<Random>& random, Where where) {
  if (length < 0)
    fail<ValueError>(where, "generate_sliding: a length of {} tokens is below 0", length);
  if (random.size() != prompts.size()) {
    fail<ValueError>(
        where, "generate_sliding: {} random generators for {} prompts; each row needs its own",
        random.size(), prompts.size());
  }
  if (prompts.empty()) return {};
  for (const std::vector<Index>& prompt : prompts) {
    if (prompt.empty())
      fail<ValueError>(where, "generate_sliding: a prompt needs at least one token");
    if (prompt.size() == prompts[0].size()) continue;
    fail<ShapeError>(where, "generate_sliding: a prompt of {} tokens beside one of {}",
                     prompt.size(), prompts[0].size());
  }
  const NoGradientGuard no_gradient;
  const Index B = static_cast<Index>(prompts.size());
  std::vector<std::vector<Index>> texts = prompts;
  for (Index step = 0; step < length; ++step) {
    const Index window = std::min(model.config.segment_length, static_cast<Index>(texts[0].size()));
    const Memory none =
        empty_memory(model.config, B, window);  // empty; the limit is what same_length asks for
    const Tensor logits =
        model(last_tokens(texts, window), none, Mode::evaluate(), where).logits.value();
    for (Index b = 0; b < B; ++b) {
      const auto row = static_cast<std::size_t>(b);
      const Tensor last = logits.narrow(0, b, 1).narrow(1, window - 1, 1).reshape({-1});  // [V]
      texts[row].push_back(sample(last, sampling, random[row], where));
    }
  }
  for (std::vector<Index>& text : texts)
    text.erase(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(prompts[0].size()));
  return texts;
}

}  // namespace segue
