#include "xl/visible_keys.hpp"

namespace segue {

VisibleKeys visible_keys(Index T, const Memory& memory, Index window) {
  VisibleKeys visible = {T, memory.length(), window, {}};
  bool rows_agree = true;
  for (Index b = 0; b < memory.batch(); ++b) {
    visible.start.push_back(visible.M - memory.visible(b));
    rows_agree = rows_agree && visible.start.back() == visible.start.front();
  }
  if (rows_agree) visible.start.resize(1);
  return visible;
}

Tensor attention_mask(const VisibleKeys& visible) {
  const Index B = visible.rows();
  const Index T = visible.T;
  const Index K = visible.M + T;
  Tensor hidden = Tensor::full({B, 1, T, K}, 1);
  Real* row = hidden.data_in_place();
  for (Index b = 0; b < B; ++b) {
    for (Index i = 0; i < T; ++i) {
      for (Index j = visible.first_key(b, i); j <= visible.last_key(i); ++j) row[j] = 0;
      row += K;
    }
  }
  return hidden;
}

}  // namespace segue
