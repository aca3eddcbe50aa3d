// A config as the metadata of a file.
#pragma once

#include <map>
#include <string>

#include "xl/config.hpp"

namespace segue {

/// Every member by name, as a whole number: rates in millionths, flags as 0 or 1.
std::map<std::string, std::string> to_metadata(const Config& config);

/// The same back. Throws FileError naming what is missing, malformed or without sense.
Config config_from_metadata(const std::map<std::string, std::string>& metadata,
                            Where where = Where::current());

}  // namespace segue
