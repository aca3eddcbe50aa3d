// Writing on without a memory: all that a model is to know of the text, it must read again for each
// token.
#pragma once

#include <vector>

#include "xl/tools/generation.hpp"

namespace segue {

/// Continues prompts side by side, each token drawn after the last T tokens of its row (all of them
/// where there are fewer), read anew without memory: the most that a model trained on separate
/// segments of T can be told, at T times the work. The twin of evaluate_sliding. Row b draws from
/// random[b]. Throws as generate does, and ShapeError for prompts of different lengths.
std::vector<std::vector<Index>> generate_sliding(const LanguageModel& model,
                                                 const std::vector<std::vector<Index>>& prompts,
                                                 Index length, const Sampling& sampling,
                                                 std::vector<Random>& random,
                                                 Where where = Where::current());

}  // namespace segue
