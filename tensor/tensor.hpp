// The tensor: shape, strides, offset and shared storage. Values only; it knows nothing of
// gradients.
#pragma once

#include <initializer_list>
#include <memory>
#include <vector>

#include "tensor/error.hpp"
#include "tensor/real.hpp"
#include "tensor/shape.hpp"
#include "tensor/storage.hpp"

namespace segue {

/// An n-dimensional array of Real. Copying one is cheap and shares its numbers; views (reshape,
/// permute, narrow, broadcast_to) copy nothing; operations return new tensors, and whatever writes
/// into one says `in_place` in its name.
class Tensor {
 public:
  /// No elements: shape [0].
  Tensor() : storage_(uncounted(no_numbers)), layout_(uncounted(no_elements)) {}
  /// Row-major `values` in the given shape. Throws ShapeError when the count differs.
  Tensor(const Shape& shape, const std::vector<Real>& values, Where where = Where::current());

  static Tensor uninitialized(const Shape& shape, Where where = Where::current());
  /// In the shape of x.
  static Tensor uninitialized_like(const Tensor& x);
  static Tensor zeros(const Shape& shape, Where where = Where::current());
  static Tensor full(const Shape& shape, Real value, Where where = Where::current());
  /// Rank 0.
  static Tensor scalar(Real value);
  /// 0, 1, .. n-1.
  static Tensor arange(Index n, Where where = Where::current());

  const Shape& shape() const { return layout_->shape; }
  const Strides& strides() const { return layout_->strides; }
  Index offset() const { return layout_->offset; }
  int rank() const { return layout_->shape.rank(); }
  /// Number of elements.
  Index size() const { return layout_->size; }
  /// Length of one axis; negative axes count from the end. Throws RangeError.
  Index dim(int axis, Where where = Where::current()) const;
  /// Row-major order without gaps.
  bool is_contiguous() const { return layout_->contiguous; }
  /// True when element i of both, in row-major order, lies i places behind the first.
  bool lies_like(const Tensor& y) const {
    return is_contiguous() && y.is_contiguous() && (layout_ == y.layout_ || shape() == y.shape());
  }
  /// The block of numbers behind this and every view of it.
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  /// True when nothing else shares the storage.
  bool owns_storage_alone() const { return storage_.use_count() == 1; }

  /// The first element; the others lie at the strides.
  const Real* data() const { return storage_->data + offset(); }
  /// The same for writing: from here on the storage counts as changed, which backward notices.
  Real* data_in_place() {
    if (size() > 0) ++storage_->version;
    return storage_->data + offset();
  }

  /// One element. Throws RangeError on a wrong number of indices or one outside its axis.
  Real at(std::initializer_list<Index> indices, Where where = Where::current()) const;
  void set_in_place(std::initializer_list<Index> indices, Real value,
                    Where where = Where::current());
  /// The value of a tensor with exactly one element. Throws ShapeError.
  Real item(Where where = Where::current()) const;
  /// All elements in row-major order.
  std::vector<Real> to_vector() const;

  /// The same elements in row-major order under another shape; one length may be -1 and is worked
  /// out. A view where the strides allow it, else a copy. Throws ShapeError.
  Tensor reshape(const Shape& shape, Where where = Where::current()) const;
  /// Axis k of the result is axis `axes[k]` of this. A view. Throws ShapeError, RangeError.
  Tensor permute(const Axes& axes, Where where = Where::current()) const;
  /// Two axes exchanged. A view.
  Tensor transpose(int axis_a, int axis_b, Where where = Where::current()) const;
  /// Elements start .. start+length-1 along one axis. A view. Throws RangeError.
  Tensor narrow(int axis, Index start, Index length, Where where = Where::current()) const;
  /// Repeats axes of length 1, and new leading ones, by stride 0. A view. Throws ShapeError.
  Tensor broadcast_to(const Shape& shape, Where where = Where::current()) const;
  /// This tensor when it is contiguous already, else a copy.
  Tensor contiguous() const;
  /// A contiguous copy with its own storage.
  Tensor clone() const;

  void fill_in_place(Real value, Where where = Where::current());
  /// Copies the elements of `source`, which must have the same shape. Throws ShapeError.
  void copy_in_place(const Tensor& source, Where where = Where::current());

 private:
  /// Where in a storage the elements lie. Tensors share it, since it never changes: so copying one
  /// is cheap.
  struct Layout {
    Shape shape;
    Strides strides;
    Index offset = 0;  // of the first element
    Index size = 1;    // number of elements
    bool contiguous = true;
  };

  Tensor(std::shared_ptr<Storage>&& storage, const std::shared_ptr<const Layout>& layout)
      : storage_(std::move(storage)), layout_(layout) {}
  Tensor(std::shared_ptr<Storage> storage, const Shape& shape, const Strides& strides,
         Index offset);

  /// For what is never deleted: nobody needs to count who uses it.
  template <class T>
  static std::shared_ptr<T> uncounted(T& x) {
    return {std::shared_ptr<T>(), &x};
  }
  static Storage no_numbers;
  static const Layout no_elements, one_element;

  std::shared_ptr<Storage> storage_;
  std::shared_ptr<const Layout> layout_;
};

}  // namespace segue
