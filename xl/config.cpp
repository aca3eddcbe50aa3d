#include "xl/config.hpp"

#include <charconv>
#include <functional>

#include "tensor/fail.hpp"

namespace segue {
namespace {

// One list of all members, for checking, writing and reading. Rates are kept in millionths, so that every number in a
// file is a whole one.
void each_member(Config& c, const std::function<void(const char*, Index&, Index least)>& whole,
                 const std::function<void(const char*, Real&)>& rate,
                 const std::function<void(const char*, bool&)>& flag) {
  whole("vocabulary", c.vocabulary, 1);
  whole("layers", c.layers, 1);
  whole("heads", c.heads, 1);
  whole("head_width", c.head_width, 1);
  whole("width", c.width, 2);
  whole("feed_forward_width", c.feed_forward_width, 1);
  whole("segment_length", c.segment_length, 1);
  whole("memory_length", c.memory_length, 0);
  whole("clamp_length", c.clamp_length, 0);
  rate("dropout", c.dropout);
  rate("attention_dropout", c.attention_dropout);
  flag("pre_norm", c.pre_norm);
  flag("same_length", c.same_length);
  flag("tie_weights", c.tie_weights);
  flag("stop_memory_gradient", c.stop_memory_gradient);
}

constexpr Real million = 1e6;
constexpr Index most = Index(1) << 30;  // so that a product of two can be counted

template <class ErrorType>
void check_as(const Config& config, Where where) {
  Config c = config;
  each_member(
      c,
      [&](const char* name, Index& value, Index least) {
        if (value >= least && value <= most) return;
        fail<ErrorType>(where, "config: {} must be in {} .. {}, got {}", name, least, most, value);
      },
      [&](const char* name, Real& value) {
        if (!(value >= 0 && value < 1)) fail<ErrorType>(where, "config: {} must be in [0, 1), got {}", name, value);
      },
      [](const char*, bool&) {});
  if (c.width % 2 != 0) fail<ErrorType>(where, "config: width must be even for the sinusoids, got {}", c.width);
  if (c.same_length && c.memory_length == 0) {
    fail<ErrorType>(where, "config: same_length sees distances below memory_length, which is 0");
  }
}

}  // namespace

void check(const Config& config, Where where) { check_as<ValueError>(config, where); }

std::map<std::string, std::string> to_metadata(const Config& config) {
  Config c = config;
  std::map<std::string, std::string> metadata;
  each_member(
      c, [&](const char* name, Index& value, Index) { metadata[name] = std::to_string(value); },
      [&](const char* name, Real& value) { metadata[name] = fmt::format("{:.0f}", value * million); },
      [&](const char* name, bool& value) { metadata[name] = value ? "1" : "0"; });
  return metadata;
}

Config config_from_metadata(const std::map<std::string, std::string>& metadata, Where where) {
  const auto number = [&](const char* name) {
    const auto found = metadata.find(name);
    if (found == metadata.end()) fail<FileError>(where, "the file does not say the model's {}", name);
    const std::string& text = found->second;
    Index value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      fail<FileError>(where, "the model's {} is not a whole number: '{}'", name, text);
    }
    return value;
  };
  Config config;
  each_member(
      config, [&](const char* name, Index& value, Index) { value = number(name); },
      [&](const char* name, Real& value) { value = static_cast<Real>(number(name)) / million; },
      [&](const char* name, bool& value) { value = number(name) != 0; });
  check_as<FileError>(config, where);
  return config;
}

}  // namespace segue
