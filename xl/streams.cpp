#include "xl/streams.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "nn/loss.hpp"
#include "tensor/fail.hpp"

namespace segue {

Streams::Streams(std::vector<Index> text, Index B, Index T, Tail tail, Where where)
    : text_(std::move(text)), B_(B), T_(T) {
  constexpr Index most = Index(1) << 30;  // so that the product can be counted
  if (B < 1 || T < 1 || B > most || T > most) {
    fail<ValueError>(where, "streams: {} rows of {} tokens are not possible", B, T);
  }
  for (const Index token : text_) {
    if (token < 0) fail<RangeError>(where, "streams: token {} is below 0", token);
  }
  const Index size = static_cast<Index>(text_.size());
  const Index needed = tail == Tail::drop ? B * T + 1 : 2;
  if (size < needed) {
    fail<ValueError>(where,
                     "streams: {} rows of {} tokens need a text of at least {}, this one has {}", B,
                     T, needed, size);
  }
  const Index inputs = size - 1;  // the last token is only a target
  row_length_ = tail == Tail::drop ? inputs / B : (inputs + B - 1) / B;
  segments_ = tail == Tail::drop ? row_length_ / T : (row_length_ + T - 1) / T;
}

Batch Streams::next() {
  const Index start = position_ * T_, length = std::min(T_, row_length_ - start);
  Batch batch = {Tokens({B_, length}), Tokens({B_, length}), {}};
  for (Index b = 0; b < B_; ++b) {
    for (Index i = 0; i < length; ++i) {
      const Index at = b * row_length_ + start + i;
      const bool has_target = at + 1 < static_cast<Index>(text_.size());
      batch.inputs[b * length + i] = has_target ? text_[static_cast<std::size_t>(at)] : 0;
      batch.targets[b * length + i] =
          has_target ? text_[static_cast<std::size_t>(at + 1)] : ignored_target;
    }
  }
  if (position_ == 0) {
    batch.resets.resize(static_cast<std::size_t>(B_));
    std::iota(batch.resets.begin(), batch.resets.end(), 0);
  }
  position_ = (position_ + 1) % segments_;
  return batch;
}

void Streams::seek(Index position, Where where) {
  if (position < 0 || position >= segments_) {
    fail<RangeError>(where, "streams: position {} is outside 0 .. {}", position, segments_ - 1);
  }
  position_ = position;
}

}  // namespace segue
