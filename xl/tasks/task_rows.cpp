#include "xl/tasks/task_rows.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "nn/loss.hpp"
#include "tensor/fail.hpp"

namespace segue {
namespace {

TaskRow written_row(const WriteOn& write_on, Index length, Where where) {
  TaskRow row;
  for (std::vector<Index>* part : {&row.tokens, &row.targets, &row.distances}) {
    part->reserve(
        static_cast<std::size_t>(length));  // a row that is too long for the machine is so at once
  }
  for (std::size_t before = 0; static_cast<Index>(row.tokens.size()) < length;
       before = row.tokens.size()) {
    write_on(row);
    const std::size_t size = row.tokens.size();
    if (size <= before || row.targets.size() != size || row.distances.size() != size) {
      fail<ValueError>(
          where,
          "task rows: a row of {} tokens was written on to {} tokens, {} targets and {} distances",
          before, size, row.targets.size(), row.distances.size());
    }
  }
  return row;
}

}  // namespace

void TaskRow::write(Index token) { write(token, ignored_target, -1); }

void TaskRow::write(Index token, Index target, Index distance) {
  tokens.push_back(token);
  targets.push_back(target);
  distances.push_back(distance);
}

TaskRows::TaskRows(Index B, Index T, Index segments, WriteOn write_on, Where where)
    : B_(B), T_(T), segments_(segments), write_on_(std::move(write_on)) {
  constexpr Index most = Index(1) << 30;  // so that products can be counted
  if (std::min({B, T, segments}) < 1 || std::max({B, T, segments}) > most) {
    fail<ValueError>(where, "task rows: rows {}, segment {} and segments {} must be in 1 .. {}", B,
                     T, segments, most);
  }
  if (!write_on_) fail<ValueError>(where, "task rows: there is no function that writes them");
}

Batch TaskRows::next(Where where) {
  Batch batch = {Tokens({B_, T_}), Tokens({B_, T_}), {}};
  Tokens distances({B_, T_});
  if (position_ == 0) {
    std::vector<TaskRow> rows;
    for (Index b = 0; b < B_; ++b) rows.push_back(written_row(write_on_, segments_ * T_, where));
    rows_ = std::move(rows);
    batch.resets.resize(static_cast<std::size_t>(B_));
    std::iota(batch.resets.begin(), batch.resets.end(), 0);
  }
  for (Index b = 0; b < B_; ++b) {
    const TaskRow& row = rows_[static_cast<std::size_t>(b)];
    const auto give = [&](const std::vector<Index>& from, Tokens& to) {
      std::copy_n(from.begin() + position_ * T_, T_, to.ids.begin() + b * T_);
    };
    give(row.tokens, batch.inputs);
    give(row.targets, batch.targets);
    give(row.distances, distances);
  }
  distances_ = std::move(distances);
  position_ = (position_ + 1) % segments_;
  return batch;
}

}  // namespace segue
