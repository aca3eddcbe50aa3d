#include <fmt/format.h>

#include <algorithm>

#include "examples/support/arguments.hpp"
#include "tests/benchmarks/case.hpp"

namespace segue {
namespace {

bool matches(const std::string& name, const std::string& filter) {
  for (std::size_t begin = 0; begin <= filter.size();) {
    const std::size_t end = std::min(filter.find(',', begin), filter.size());
    if (end > begin && name.find(filter.substr(begin, end - begin)) != std::string::npos) return true;
    begin = end + 1;
  }
  return filter.empty();
}

}  // namespace

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& some : {training_cases(), matmul_cases(), inference_cases(), op_cases()}) {
    cases.insert(cases.end(), some.begin(), some.end());
  }
  return cases;
}

std::vector<Case> cases_with(const std::string& filter) {
  std::vector<Case> cases = all_cases();
  std::erase_if(cases, [&](const Case& c) { return !matches(c.name, filter); });
  if (cases.empty())
    throw ArgumentError(fmt::format("filter: no case has {:?} in its name; list=true names all cases", filter));
  return cases;
}

}  // namespace segue
