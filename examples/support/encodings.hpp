// Lists of position encodings as the arguments of lessons name them.
#pragma once

#include <string>
#include <vector>

#include "xl/rivals/encoding.hpp"

namespace segue {

/// "none,sinusoids_restarting,.."
std::string names_of_all_encodings();

/// "none,shaw" as encodings. Throws ArgumentError, naming the argument, for a name there is not, for one that comes
/// twice, and for an empty list.
std::vector<Encoding> encodings_of_argument(const std::string& argument, const std::string& list);

}  // namespace segue
