#include "xl/tools/config_metadata.hpp"

#include <charconv>

#include "tensor/fail.hpp"

namespace segue {
namespace {

constexpr Real million = 1e6;

}  // namespace

std::map<std::string, std::string> to_metadata(const Config& config) {
  Config c = config;
  std::map<std::string, std::string> metadata;
  visit_members(
      c, [&](const char* name, Index& value, Index) { metadata[name] = std::to_string(value); },
      [&](const char* name, Real& value) {
        metadata[name] = fmt::format("{:.0f}", value * million);
      },
      [&](const char* name, bool& value) { metadata[name] = value ? "1" : "0"; });
  return metadata;
}

Config config_from_metadata(const std::map<std::string, std::string>& metadata, Where where) {
  const auto number = [&](const char* name) {
    const auto found = metadata.find(name);
    if (found == metadata.end())
      fail<FileError>(where, "the file does not say the model's {}", name);
    const std::string& text = found->second;
    Index value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      fail<FileError>(where, "the model's {} is not a whole number: '{}'", name, text);
    }
    return value;
  };
  Config config;
  visit_members(
      config, [&](const char* name, Index& value, Index) { value = number(name); },
      [&](const char* name, Real& value) { value = static_cast<Real>(number(name)) / million; },
      [&](const char* name, bool& value) { value = number(name) != 0; });
  try {
    check(config, where);
  } catch (const ValueError& error) {
    throw FileError(error.what());
  }
  return config;
}

}  // namespace segue
