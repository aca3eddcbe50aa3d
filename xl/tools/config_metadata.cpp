#include "xl/tools/config_metadata.hpp"

#include <charconv>
#include <cmath>
#include <locale>
#include <sstream>
#include <vector>

#include "tensor/fail.hpp"

namespace segue {
namespace {

constexpr Real million = 1e6;

const std::string& text_of(const std::map<std::string, std::string>& metadata, const char* name,
                           Where where) {
  const auto found = metadata.find(name);
  if (found == metadata.end()) fail<FileError>(where, "the file does not say the model's {}", name);
  return found->second;
}

Index whole_number(const char* name, const std::string& text, Where where) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail<FileError>(where, "the model's {} is not a whole number: '{}'", name, text);
  }
  return value;
}

// A stream, since not every standard library has std::from_chars for floating point yet.
Real rate_number(const char* name, const std::string& text, Where where) {
  // Older files count millionths. A rate itself lies below 1 and never is digits alone, but for 0.
  if (text.find_first_not_of("0123456789") == std::string::npos)
    return static_cast<Real>(whole_number(name, text, where)) / million;
  std::istringstream stream(text);
  stream.imbue(std::locale::classic());
  Real value = 0;
  const bool characters = text.find_first_not_of("0123456789.e+-") == std::string::npos;
  if (!characters || !(stream >> value) || stream.peek() != std::istringstream::traits_type::eof())
    fail<FileError>(where, "the model's {} is not a number: '{}'", name, text);
  return value;
}

// The rates of a config, where they stand in it.
std::vector<Real*> rates_of(Config& config) {
  std::vector<Real*> rates;
  visit_members(
      config, [](const char*, Index&, Index) {},
      [&](const char*, Real& value) { rates.push_back(&value); }, [](const char*, bool&) {});
  return rates;
}

}  // namespace

std::map<std::string, std::string> to_metadata(const Config& config) {
  Config c = config;
  std::map<std::string, std::string> metadata;
  visit_members(
      c, [&](const char* name, Index& value, Index) { metadata[name] = std::to_string(value); },
      [&](const char* name, Real& value) { metadata[name] = fmt::format("{}", value); },
      [&](const char* name, bool& value) { metadata[name] = value ? "1" : "0"; });
  return metadata;
}

Config config_from_metadata(const std::map<std::string, std::string>& metadata, Where where) {
  Config config;
  visit_members(
      config,
      [&](const char* name, Index& value, Index) {
        value = whole_number(name, text_of(metadata, name, where), where);
      },
      [&](const char* name, Real& value) {
        value = rate_number(name, text_of(metadata, name, where), where);
      },
      [&](const char* name, bool& value) {
        value = whole_number(name, text_of(metadata, name, where), where) != 0;
      });
  try {
    check(config, where);
  } catch (const ValueError& error) {
    throw FileError(error.what());
  }
  return config;
}

bool same_but_for_rounding(Config a, Config b) {
  const std::vector<Real*> rates = rates_of(a), others = rates_of(b);
  for (std::size_t k = 0; k < rates.size(); ++k) {
    if (std::abs(*rates[k] - *others[k]) <= 1 / million) *rates[k] = *others[k];
  }
  return a == b;
}

}  // namespace segue
