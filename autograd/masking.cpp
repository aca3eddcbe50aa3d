#include "autograd/masking.hpp"

#include "tensor/elementwise.hpp"
#include "tensor/fail.hpp"

namespace segue {

// z = value where mask, else x
struct MaskedFill : Node {
  Saved mask{this};
  void backward(const Tensor& dz) override {
    accumulate(0, masked_fill(dz, mask, 0));
  }  // dx = dz where not masked
};

Variable masked_fill(const Variable& x, const Tensor& mask, Real value, Where where) {
  auto op = make_node<MaskedFill>();
  op->mask = mask;
  return record("masked_fill", op, masked_fill(x.value(), mask, value, where), {x}, where);
}

// z = keep x, where keep is 0 or 1 / (1 - rate)
struct Dropout : Node {
  Saved keep{this};
  void backward(const Tensor& dz) override { accumulate(0, mul(dz, keep)); }  // dx = dz keep
};

Variable dropout(const Variable& x, Real rate, Random& random, Where where) {
  if (!(rate >= 0 && rate < 1))
    fail<ValueError>(where, "dropout: the rate must be in [0, 1), got {}", rate);
  if (rate == 0) return x;
  auto op = make_node<Dropout>();
  Tensor keep = Tensor::uninitialized(x.shape());
  Real* const out = keep.data_in_place();
  for (Index i = 0; i < keep.size(); ++i) {
    out[i] = random.uniform() < static_cast<double>(rate) ? 0 : 1 / (1 - rate);
  }
  op->keep = keep;
  return record("dropout", op, mul(x.value(), op->keep), {x}, where);
}

}  // namespace segue
