// A program to be stopped in a debugger, which should show x as it is meant: [3, 2], read through a transpose.
#include "tensor/tensor.hpp"

int stop_here(const segue::Tensor& x) { return static_cast<int>(x.size()); }

int main() {
  const segue::Tensor x = segue::Tensor::arange(6).reshape({2, 3}).transpose(0, 1);
  return stop_here(x) == 6 ? 0 : 1;
}
