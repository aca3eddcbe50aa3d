#include "tensor/tools/shuffle.hpp"

#include <utility>

namespace segue {

void shuffle(std::vector<Index>& values, Random& random) {
  for (std::size_t left = values.size(); left > 1; --left) {
    std::swap(values[left - 1],
              values[static_cast<std::size_t>(random.below(static_cast<Index>(left)))]);
  }
}

}  // namespace segue
