// A config as the metadata of a file.
#pragma once

#include <map>
#include <string>

#include "xl/config.hpp"

namespace segue {

/// Every member by name: rates with as many digits as it takes to read the same number back, flags
/// as 0 or 1.
std::map<std::string, std::string> to_metadata(const Config& config);

/// The same back, also from older files, which hold rates as whole millionths. Throws FileError
/// naming what is missing, malformed or without sense.
Config config_from_metadata(const std::map<std::string, std::string>& metadata,
                            Where where = Where::current());

/// True when the configs agree, rates to a millionth: older files and the other precision round
/// them.
bool same_but_for_rounding(Config a, Config b);

}  // namespace segue
