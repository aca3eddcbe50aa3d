#include "nn/tools/parameter_summary.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace segue {

std::string parameter_summary(const std::vector<Parameter>& parameters) {
  std::size_t widest = 5;
  for (const Parameter& p : parameters) widest = std::max(widest, p.name.size());
  std::string out;
  for (const Parameter& p : parameters) {
    out += fmt::format("{:<{}}  {:<16}{:>10}\n", p.name, widest, to_string(p.variable.shape()),
                       p.variable.value().size());
  }
  return out +
         fmt::format("{:<{}}  {:<16}{:>10}\n", "total", widest, "", parameter_count(parameters));
}

}  // namespace segue
