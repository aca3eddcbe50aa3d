// How much of a longer context a model makes use of: the relative effective context length (paper,
// section 4.3 and appendix C; after the effective context length of Khandelwal et al. 2018).
//
// Whoever knows little from near tokens gains much from far ones. So models are compared in a
// group: a gain counts from what the best of them knows with the shorter context.
#pragma once

#include <functional>
#include <vector>

#include "xl/language_model.hpp"

namespace segue {

/// -log P(x_t | x_{t-1}, .., x_{t-c}), in nats, of each target t of `text`: the loss with the c
/// tokens before it and nothing else. The c tokens are read from an empty memory, in segments of
/// the model's training length that end with x_{t-1} (the first may be shorter), with a memory of
/// up to `memory_length`. So a model without memory sees the last T of them. `batch` targets are
/// computed side by side. `report` is told how many are done; false ends the work, and what was
/// done comes back. Throws ValueError for a context or batch below 1 and for a target with less
/// than c tokens before it or none at it; RangeError for a token outside the vocabulary.
std::vector<double> context_losses(const LanguageModel& model, const std::vector<Index>& text,
                                   const std::vector<Index>& targets, Index c, Index memory_length,
                                   Index batch = 32,
                                   const std::function<bool(Index done)>& report = nullptr,
                                   Where where = Where::current());

/// What a group of models loses on the same targets.
struct ContextTable {
  std::vector<Index> contexts;  // c, rising
  std::vector<std::vector<std::vector<double>>>
      losses;  // l_i(c, t), in nats: [model i][context][target t]

  /// Throws ValueError unless there is a model and a target, contexts rise, and no loss is missing
  /// or not a number.
  void check(Where where = Where::current()) const;
  /// b(c, t) = min over i of l_i(c, t): what the best model of the group loses on each target, with
  /// context number k.
  std::vector<double> baseline(std::size_t k) const;
};

/// The r n positions (rounded up) with the largest of the n values, hardest first; of equals the
/// earlier ones. Throws ValueError unless 0 < r <= 1.
std::vector<std::size_t> hardest(const std::vector<double>& values, double r,
                                 Where where = Where::current());

/// g_i(c, c'), the relative gain of model i from context number k to number k' >= k. With the
/// hardest positions T = hardest(b(c, .), r) and the relative loss f_i(c, c') = 1 / |T| sum over t
/// in T of min(b(c, t), l_i(c', t)),
///     g_i(c, c') = (exp f_i(c, c) - exp f_i(c, c')) / exp f_i(c, c).
/// f_i(c, c) is the mean of b(c, .), the same for all models. Throws ValueError like the two above,
/// RangeError for a model or context that is not in the table.
double relative_gain(const ContextTable& table, std::size_t i, std::size_t k, std::size_t next,
                     double r, Where where = Where::current());

/// The relative effective context length (RECL) of model i: the first c of the table from which the
/// step to the next one gains less than `threshold`; the last c where each step gains that much.
/// Throws like relative_gain.
Index effective_context(const ContextTable& table, std::size_t i, double r, double threshold = 0.01,
                        Where where = Where::current());

}  // namespace segue
