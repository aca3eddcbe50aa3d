#include "xl/config.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <vector>

#include "tests/support/tiny_models.hpp"

namespace segue::xl_config_test {

TEST_CASE("The default config makes sense, and so does every variant of a tiny one") {
  check(Config());
  for (const Config& config : all_variants()) check(config);
}

TEST_CASE("A number that makes no sense is named, with what it should be and what came") {
  const auto error_after = [](const std::function<void(Config&)>& change) {
    Config config;
    change(config);
    return thrown_by<ValueError>([&] { check(config); });
  };
  const std::vector<std::pair<Index Config::*, const char*>> counts = {
      {&Config::vocabulary, "vocabulary"},
      {&Config::layers, "layers"},
      {&Config::heads, "heads"},
      {&Config::head_width, "head_width"},
      {&Config::width, "width"},
      {&Config::feed_forward_width, "feed_forward_width"},
      {&Config::segment_length, "segment_length"}};
  for (const auto& [member, name] : counts) {
    for (const Index wrong : {Index(0), Index(-3), std::numeric_limits<Index>::max()}) {
      const std::string message = error_after([&, m = member](Config& c) { c.*m = wrong; });
      CAPTURE(message);
      CHECK(holds(message, std::string("config: ") + name + " "));
      CHECK(holds(message, "got " + std::to_string(wrong)));
      CHECK(holds(message, "config_test.cpp"));
    }
  }
  CHECK(holds(error_after([](Config& c) { c.memory_length = -1; }), "memory_length"));
  CHECK(holds(error_after([](Config& c) { c.clamp_length = -1; }), "clamp_length"));
  CHECK(holds(error_after([](Config& c) { c.dropout = 1; }), "dropout must be in [0, 1), got 1"));
  CHECK(holds(error_after([](Config& c) { c.attention_dropout = Real(-0.5); }), "attention_dropout"));
  CHECK(holds(error_after([](Config& c) { c.dropout = std::numeric_limits<Real>::quiet_NaN(); }), "dropout"));
  CHECK(holds(error_after([](Config& c) { c.width = 31; }), "width must be even"));
  CHECK(holds(error_after([](Config& c) { c.same_length = true, c.memory_length = 0; }), "same_length"));
}

TEST_CASE("A config comes back from its metadata as it was") {
  for (Config config : all_variants()) {
    config.stop_memory_gradient = config.pre_norm;
    CHECK(config_from_metadata(to_metadata(config)) == config);
  }
  Config config;
  for (int percent = 0; percent < 100; ++percent) {
    config.dropout = static_cast<Real>(percent) / 100;
    config.attention_dropout = static_cast<Real>(99 - percent) / 100;
    CHECK(config_from_metadata(to_metadata(config)) == config);
  }
}

TEST_CASE("Metadata that is missing, malformed or makes no sense is an error that names it") {
  const auto metadata = to_metadata(tiny_config());
  for (const auto& [name, value] : metadata) {
    auto missing = metadata;
    missing.erase(name);
    CHECK(holds(thrown_by<FileError>([&] { config_from_metadata(missing); }), name));
    for (const char* wrong : {"", "x", "1x", " 1", "1.5", "99999999999999999999", "-1000001"}) {
      if (value.size() == 1 && std::string(wrong) == "-1000001" &&
          holds("pre_norm same_length tie_weights stop_memory_gradient", name))
        continue;
      auto malformed = metadata;
      malformed[name] = wrong;
      CAPTURE(wrong);
      CHECK(holds(thrown_by<FileError>([&] { config_from_metadata(malformed); }), name));
    }
  }
}

}  // namespace segue::xl_config_test
