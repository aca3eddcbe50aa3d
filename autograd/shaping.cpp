#include "autograd/shaping.hpp"

#include "tensor/indexing.hpp"
#include "tensor/reduce.hpp"

namespace segue {

struct Reshape : Node {
  void backward(const Tensor& dz) override { accumulate(0, dz.reshape(input_shape(0))); }
};

Variable reshape(const Variable& x, const Shape& shape, Where where) {
  return record("reshape", make_node<Reshape>(), x.value().reshape(shape, where), {x}, where);
}

struct Permute : Node {
  Axes inverse;
  void backward(const Tensor& dz) override { accumulate(0, dz.permute(inverse)); }
};

Variable permute(const Variable& x, const Axes& axes, Where where) {
  const Tensor z = x.value().permute(axes, where);
  auto op = make_node<Permute>();
  op->inverse = axes;
  for (int a = 0; a < axes.size(); ++a) op->inverse[normalize_axis(axes[a], z.rank())] = a;
  return record("permute", op, z, {x}, where);
}

Variable transpose(const Variable& x, int axis_a, int axis_b, Where where) {
  return permute(x, exchanged_axes(x.value().rank(), axis_a, axis_b, where), where);
}

struct Narrow : Node {
  int axis = 0;
  Index start = 0, length = 0;
  void backward(const Tensor& dz) override {  // dx is dz in its place, 0 around it
    Tensor dx = Tensor::zeros(input_shape(0));
    dx.narrow(axis, start, length).copy_in_place(dz);
    accumulate(0, dx);
  }
};

Variable narrow(const Variable& x, int axis, Index start, Index length, Where where) {
  auto op = make_node<Narrow>();
  op->axis = axis;
  op->start = start;
  op->length = length;
  return record("narrow", op, x.value().narrow(axis, start, length, where), {x}, where);
}

struct Concat : Node {
  std::vector<Index> lengths;  // of each part along `axis`
  int axis = 0;
  void backward(const Tensor& dz) override {
    Index start = 0;
    for (std::size_t part = 0; part < lengths.size(); ++part) {
      if (wants(part)) accumulate(part, dz.narrow(axis, start, lengths[part]));
      start += lengths[part];
    }
  }
};

Variable concat(const std::vector<Variable>& parts, int axis, Where where) {
  std::vector<Tensor> values;
  for (const Variable& part : parts) values.push_back(part.value());
  const Tensor z = concat(values, axis, where);
  auto op = make_node<Concat>();
  op->axis = axis;
  for (const Tensor& value : values) op->lengths.push_back(value.dim(axis));
  return record("concat", op, z, std::vector<VariableRef>(parts.begin(), parts.end()), where);
}

struct Gather : Node {
  Tokens indices;
  int axis = 0;
  void backward(const Tensor& dz) override {
    accumulate(0, scatter_add(dz, input_shape(0), indices, axis));
  }
};

Variable gather(const Variable& x, const Tokens& indices, int axis, Where where) {
  auto op = make_node<Gather>();
  op->indices = indices;
  op->axis = axis;
  return record("gather", op, gather(x.value(), indices, axis, where), {x}, where);
}

}  // namespace segue
