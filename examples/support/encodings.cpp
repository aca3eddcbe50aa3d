#include "examples/support/encodings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "examples/support/arguments.hpp"

namespace segue {

std::string names_of_all_encodings() {
  std::string names;
  for (const Encoding& encoding : all_encodings()) names += (names.empty() ? "" : ",") + encoding_name(encoding);
  return names;
}

std::vector<Encoding> encodings_of_argument(const std::string& argument, const std::string& list) {
  std::vector<Encoding> chosen;
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    try {
      chosen.push_back(encoding_named(name));
    } catch (const ValueError&) {
      throw ArgumentError(
          fmt::format("{}: there is no \"{}\"; expected some of {}, or transformer_xl with some of its terms only, as "
                      "in transformer_xl:acd",
                      argument, name, names_of_all_encodings()));
    }
    if (std::find(chosen.begin(), chosen.end() - 1, chosen.back()) != chosen.end() - 1) {
      throw ArgumentError(fmt::format("{}: {} is named twice", argument, name));
    }
  }
  if (chosen.empty()) throw ArgumentError(fmt::format("{}: expected at least one name, got none", argument));
  return chosen;
}

}  // namespace segue
