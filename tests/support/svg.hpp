// What the tests of pictures share.
#pragma once

#include <regex>
#include <string>
#include <vector>

namespace segue {

inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}
inline bool contains(const std::string& text, const std::string& part) { return count(text, part) > 0; }

/// Every tag is closed in order, and every number in an attribute is finite.
inline bool is_well_formed(const std::string& svg) {
  std::vector<std::string> open;
  static const std::regex tag("<(/?)([a-z]+)([^<>]*?)(/?)>");
  for (std::sregex_iterator it(svg.begin(), svg.end(), tag), end; it != end; ++it) {
    const std::smatch& match = *it;
    if (match[1].length() > 0) {
      if (open.empty() || open.back() != match[2]) return false;
      open.pop_back();
    } else if (match[4].length() == 0) {
      open.push_back(match[2]);
    }
  }
  return open.empty() && count(svg, "<") == count(svg, ">") && !contains(svg, "nan") && !contains(svg, "inf\"");
}

}  // namespace segue
