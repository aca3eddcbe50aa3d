// The inputs of a node. Most ops have one or two: these lie in the node itself, since a node by
// itself costs little more than an allocation does.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "tensor/kernels/free_blocks.hpp"

namespace segue {

struct Node;

/// A list of nodes, in the order of an op's arguments.
class Inputs {
 public:
  using Pointer = std::shared_ptr<Node>;

  std::size_t size() const { return few_used_ + many_.size(); }
  bool empty() const { return size() == 0; }
  const Pointer& operator[](std::size_t i) const { return begin()[i]; }
  const Pointer* begin() const { return many_.empty() ? few_.data() : many_.data(); }
  const Pointer* end() const { return begin() + size(); }
  Pointer* begin() { return many_.empty() ? few_.data() : many_.data(); }
  Pointer* end() { return begin() + size(); }

  /// Makes room for `size` inputs, each to be set. Called once, on an empty list.
  void resize(std::size_t size) {
    if (size <= few_.size()) {
      few_used_ = size;
    } else {
      many_.resize(size);
    }
  }
  /// Lets them all go.
  void clear() noexcept {
    for (std::size_t i = 0; i < few_used_; ++i) few_[i].reset();
    few_used_ = 0;
    many_.clear();
  }

 private:
  std::array<Pointer, 2> few_;
  std::size_t few_used_ = 0;
  std::vector<Pointer, BlockAllocator<Pointer>> many_;
};

}  // namespace segue
