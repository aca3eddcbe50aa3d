// Printing: fmt::print("{}", tensor) shows the shape first, then nested rows, elided when large.
#pragma once

#include <fmt/format.h>

#include <string>

#include "tensor/fail.hpp"  // shapes are printed as errors show them
#include "tensor/tensor.hpp"
#include "tensor/tokens.hpp"

namespace segue {

/// "Tensor [2, 3]" and the rows below it, four significant digits; long axes show three elements at
/// either end.
std::string to_string(const Tensor& tensor);
/// "Tokens [2, 3]" and the rows below it.
std::string to_string(const Tokens& tokens);

}  // namespace segue

template <>
struct fmt::formatter<segue::Tensor> : fmt::formatter<std::string> {
  auto format(const segue::Tensor& tensor, format_context& context) const {
    return formatter<std::string>::format(segue::to_string(tensor), context);
  }
};
template <>
struct fmt::formatter<segue::Tokens> : fmt::formatter<std::string> {
  auto format(const segue::Tokens& tokens, format_context& context) const {
    return formatter<std::string>::format(segue::to_string(tokens), context);
  }
};
