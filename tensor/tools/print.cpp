#include "tensor/tools/print.hpp"

#include <functional>

namespace segue {
namespace {

constexpr Index edge = 3;             // elements shown at either end of a long axis
constexpr Index longest_whole = 8;    // axes up to this length are shown whole
constexpr Index largest_whole = 100;  // and so are tensors of up to this many elements

// Prints `axis` and those inside it; `element` turns a row-major element number into text.
void print_rows(std::string& out, const Shape& shape, int axis, Index first, bool whole,
                const std::function<std::string(Index)>& element) {
  if (axis == shape.rank()) {
    out += element(first);
    return;
  }
  Index stride = 1;
  for (int inner = axis + 1; inner < shape.rank(); ++inner) stride *= shape[inner];
  const Index n = shape[axis];
  const bool innermost = axis == shape.rank() - 1;
  const std::string separator =
      innermost ? ", " : ",\n" + std::string(static_cast<std::size_t>(axis) + 1, ' ');
  out += '[';
  for (Index i = 0; i < n; ++i) {
    if (i > 0) out += separator;
    if (!whole && n > longest_whole && i == edge) {
      out += "...";
      i = n - edge - 1;
      continue;
    }
    print_rows(out, shape, axis + 1, first + i * stride, whole, element);
  }
  out += ']';
}

std::string print(const char* type, const Shape& shape,
                  const std::function<std::string(Index)>& element) {
  std::string out = fmt::format("{} {}\n", type, to_string(shape));
  print_rows(out, shape, 0, 0, shape.size() > 0 && shape.size() <= largest_whole, element);
  return out;
}

}  // namespace

std::string to_string(const Tensor& tensor) {
  return print("Tensor", tensor.shape(), [&](Index number) {
    Index offset = 0;
    for (int axis = tensor.rank() - 1; axis >= 0; --axis) {
      offset += (number % tensor.shape()[axis]) * tensor.strides()[axis];
      number /= tensor.shape()[axis];
    }
    return fmt::format("{:>8.4g}", tensor.data()[offset]);
  });
}

std::string to_string(const Tokens& tokens) {
  return print("Tokens", tokens.shape,
               [&](Index number) { return fmt::format("{:4}", tokens[number]); });
}

}  // namespace segue
