// What a model consists of, as a table.
#pragma once

#include <string>
#include <vector>

#include "nn/parameters.hpp"

namespace segue {

/// Names, shapes and counts with the total, for people.
std::string parameter_summary(const std::vector<Parameter>& parameters);

}  // namespace segue
