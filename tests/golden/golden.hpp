// Recorded runs of the paper authors' own PyTorch model, replayed: weights, tokens, and for every segment the logits,
// losses, memories and gradients to agree with. Needs the double build.
//
// The original keeps time first and its linear weights as [outputs, inputs]; `__metadata__` holds the configuration.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace segue {

/// The largest difference between a recorded run and ours, by kind: "logits", "loss", "memory", "gradient". Throws
/// FileError for a file that is not such a recording.
std::map<std::string, double> replay(const std::filesystem::path& file);

}  // namespace segue
