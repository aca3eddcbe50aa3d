#include "tensor/tensor.hpp"

#include <algorithm>
#include <utility>

#include "tensor/fail.hpp"
#include "tensor/kernels/free_blocks.hpp"
#include "tensor/map.hpp"

namespace segue {

constinit Storage Tensor::no_numbers;
constinit const Tensor::Layout Tensor::no_elements = {{0}, {1}, 0, 0, true};
constinit const Tensor::Layout Tensor::one_element = {};

Tensor::Tensor(std::shared_ptr<Storage> storage, const Shape& shape, const Strides& strides,
               Index offset)
    : storage_(std::move(storage)), layout_(uncounted(one_element)) {
  Index size = 1;
  bool contiguous = true;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    contiguous = contiguous && (shape[axis] == 1 || strides[axis] == size);
    size *= shape[axis];
  }
  if (size == 0) offset = 0;  // a window without elements must not point past the storage
  if (shape.rank() == 0 && offset == 0) return;
  const Layout layout = {shape, strides, offset, size, contiguous || size == 0};
  layout_ = std::allocate_shared<Layout>(BlockAllocator<Layout>(), layout);
}

Tensor::Tensor(const Shape& shape, const std::vector<Real>& values, Where where)
    : Tensor(uninitialized(shape, where)) {
  if (static_cast<Index>(values.size()) != size()) {
    fail<ShapeError>(where, "{} values do not fill shape {}", values.size(), shape);
  }
  std::copy(values.begin(), values.end(), data_in_place());
}

Tensor Tensor::uninitialized(const Shape& shape, Where where) {
  check_shape(shape, where);
  return Tensor(allocate_storage(shape.size()), shape, contiguous_strides(shape), 0);
}

Tensor Tensor::uninitialized_like(const Tensor& x) {
  if (!x.is_contiguous() || x.offset() != 0) return uninitialized(x.shape());
  return Tensor(allocate_storage(x.size()), x.layout_);
}

Tensor Tensor::zeros(const Shape& shape, Where where) { return full(shape, 0, where); }

Tensor Tensor::full(const Shape& shape, Real value, Where where) {
  Tensor tensor = uninitialized(shape, where);
  tensor.fill_in_place(value);
  return tensor;
}

Tensor Tensor::scalar(Real value) { return full(Shape{}, value); }

Tensor Tensor::arange(Index n, Where where) {
  Tensor tensor = uninitialized({n}, where);
  Real* out = tensor.data_in_place();
  for (Index i = 0; i < n; ++i) out[i] = static_cast<Real>(i);
  return tensor;
}

Index Tensor::dim(int axis, Where where) const {
  if (rank() == 0) fail<RangeError>(where, "a tensor of rank 0 has no axis {}", axis);
  return shape()[normalize_axis(axis, rank(), where)];
}

namespace {

Index element_offset(const Tensor& tensor, std::initializer_list<Index> indices, Where where) {
  if (static_cast<int>(indices.size()) != tensor.rank()) {
    fail<RangeError>(where, "{} indices for a tensor of shape {}", indices.size(), tensor.shape());
  }
  Index offset = 0;
  int axis = 0;
  for (const Index index : indices) {
    if (index < 0 || index >= tensor.shape()[axis]) {
      fail<RangeError>(where, "index {} is outside axis {} of shape {}", index, axis,
                       tensor.shape());
    }
    offset += index * tensor.strides()[axis++];
  }
  return offset;
}

}  // namespace

Real Tensor::at(std::initializer_list<Index> indices, Where where) const {
  return data()[element_offset(*this, indices, where)];
}

void Tensor::set_in_place(std::initializer_list<Index> indices, Real value, Where where) {
  const Index offset = element_offset(*this, indices, where);
  data_in_place()[offset] = value;
}

Real Tensor::item(Where where) const {
  if (size() != 1) fail<ShapeError>(where, "item: needs exactly one element, shape is {}", shape());
  return *data();
}

std::vector<Real> Tensor::to_vector() const {
  const Tensor flat = contiguous();
  return {flat.data(), flat.data() + size()};
}

namespace {

// Works out the one length that may be -1.
Shape resolve_shape(const Shape& from, const Shape& wanted, Where where) {
  Shape shape = wanted;
  int open = -1;
  for (int axis = 0; axis < shape.rank() && open < 0; ++axis) {
    if (shape[axis] == -1) open = axis;
  }
  if (open >= 0) shape[open] = 1;
  check_shape(shape, where);
  const Index known = shape.size();
  if (open >= 0 && known > 0) shape[open] = from.size() / known;
  const bool any_length_fits = open >= 0 && known == 0;
  if (any_length_fits || shape.size() != from.size()) {
    fail<ShapeError>(where, "reshape: {} does not fit into {}", from, wanted);
  }
  return shape;
}

// Finds strides that show the same elements under `shape` without a copy; false where there are
// none.
bool strides_for_view(const Tensor& x, const Shape& shape, Strides& strides) {
  strides = contiguous_strides(shape);
  if (x.size() == 0) return true;
  const Loops runs =
      merge_axes(x.shape(), x.strides(), x.strides(), x.strides());  // evenly spaced elements
  int run = runs.shape.rank() - 1;
  Index length = runs.shape[run], step = runs.strides[0][run];
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (shape[axis] == 1) continue;
    if (length == 1) {
      length = runs.shape[--run];
      step = runs.strides[0][run];
    }
    if (length % shape[axis] != 0) return false;
    strides[axis] = step;
    length /= shape[axis];
    step *= shape[axis];
  }
  return true;
}

}  // namespace

Tensor Tensor::reshape(const Shape& wanted, Where where) const {
  const Shape shape = resolve_shape(layout_->shape, wanted, where);
  Strides strides;
  if (strides_for_view(*this, shape, strides)) return Tensor(storage_, shape, strides, offset());
  return clone().reshape(shape, where);
}

Tensor Tensor::permute(const Axes& axes, Where where) const {
  const Axes order = normalize_axes(axes, rank(), where);
  if (order.size() != rank()) {
    fail<ShapeError>(where, "permute: {} axes named for shape {}", order.size(), shape());
  }
  Shape shape = layout_->shape;
  Strides strides = layout_->strides;
  for (int axis = 0; axis < rank(); ++axis) {
    const int source = order[axis];
    shape[axis] = layout_->shape[source];
    strides[axis] = layout_->strides[source];
  }
  return Tensor(storage_, shape, strides, offset());
}

Tensor Tensor::transpose(int axis_a, int axis_b, Where where) const {
  return permute(exchanged_axes(rank(), axis_a, axis_b, where), where);
}

Tensor Tensor::narrow(int axis, Index start, Index length, Where where) const {
  const Index available = dim(axis, where);
  const int a = normalize_axis(axis, rank(), where);
  if (start < 0 || length < 0 || start > available || length > available - start) {
    fail<RangeError>(where, "narrow: {} elements from {} are outside axis {} of shape {}", length,
                     start, axis, shape());
  }
  Shape shape = layout_->shape;
  shape[a] = length;
  return Tensor(storage_, shape, strides(), offset() + start * strides()[a]);
}

Tensor Tensor::broadcast_to(const Shape& shape, Where where) const {
  if (shape == layout_->shape) return *this;
  check_shape(shape, where);
  const int added = shape.rank() - rank();
  Strides strides = Strides::filled(shape.rank(), 0);
  bool fits = added >= 0;
  for (int axis = 0; fits && axis < rank(); ++axis) {
    const bool same = layout_->shape[axis] == shape[axis + added];
    fits = same || layout_->shape[axis] == 1;
    strides[axis + added] = same ? layout_->strides[axis] : 0;
  }
  if (!fits)
    fail<ShapeError>(where, "broadcast_to: shape {} does not broadcast to {}", layout_->shape,
                     shape);
  return Tensor(storage_, shape, strides, offset());
}

Tensor Tensor::contiguous() const { return is_contiguous() ? *this : clone(); }

Tensor Tensor::clone() const {
  return map(*this, [](Real x) { return x; });
}

void Tensor::fill_in_place(Real value, Where where) {
  const auto constant = [value](Real, Real) { return value; };
  map_in_place(*this, *this, constant, where);
}

void Tensor::copy_in_place(const Tensor& source, Where where) {
  if (!(source.shape() == shape())) {
    fail<ShapeError>(where, "copy_in_place: shape {} into a tensor of shape {}", source.shape(),
                     shape());
  }
  const auto second = [](Real, Real s) { return s; };
  map_in_place(*this, source, second, where);
}

}  // namespace segue
