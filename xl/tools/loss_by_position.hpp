// Where in a text a model knows what comes next.
#pragma once

#include <functional>
#include <vector>

#include "xl/language_model.hpp"
#include "xl/streams.hpp"

namespace segue {

/// The mean loss over the rows, in nats, at each position 0 .. segments T - 1 of rows that begin
/// with the first batch `next_batch` gives and continue from one to the next; NaN where every
/// target is ignored. The memory is empty at first and keeps up to `memory_length` positions.
/// Throws ShapeError for batches of unequal shapes, ValueError for `segments` below 1.
std::vector<double> loss_by_position(const LanguageModel& model,
                                     const std::function<Batch()>& next_batch, Index segments,
                                     Index memory_length, Where where = Where::current());

/// The mean at each of the T places of a segment, over the segments from number `first` on. Throws
/// ValueError unless the losses are whole segments and `first` leaves one of them.
std::vector<double> loss_by_place(const std::vector<double>& loss_by_position, Index T, Index first,
                                  Where where = Where::current());

}  // namespace segue
