// Exits 0 when a program of somebody else's can use segue.
#include "tensor/tensor.hpp"
#include "tensor/tools/print.hpp"

int main() {
  const segue::Tensor x = segue::Tensor::arange(6).reshape({2, 3}).transpose(0, 1);
  fmt::print("{}\n", x);
  return x.at({2, 1}) == 5 ? 0 : 1;
}
