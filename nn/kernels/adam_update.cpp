// One parallel loop over all parameters, since most of them are too small to be shared alone.
#include "nn/kernels/adam_update.hpp"

#include <algorithm>

#include "tensor/map.hpp"

namespace segue {

void share_adam_updates(const AdamUpdates& updates,
                        void (*formula)(const AdamUpdate& update, Index begin, Index end)) {
  Index total = 0;
  for (const AdamUpdate& u : updates) total += u.gradient.size();
  parallel_for(total, elements_per_thread / 4, [&](Index begin, Index end) {
    Index start = 0;  // of the parameter in the long row of all
    for (const AdamUpdate& u : updates) {
      const Index first = std::max<Index>(begin - start, 0);
      const Index last = std::min(end - start, u.gradient.size());
      if (first < last) formula(u, first, last);
      start += u.gradient.size();
    }
  });
}

}  // namespace segue
