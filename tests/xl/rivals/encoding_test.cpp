#include "xl/rivals/encoding.hpp"

#include <doctest/doctest.h>

#include <set>

#include "tests/support/tiny_models.hpp"

namespace segue::xl_encoding_test {

TEST_CASE("Every encoding is found by its name, and no two share one") {
  std::set<std::string> names;
  for (Encoding encoding : all_encodings()) {
    CHECK(names.insert(encoding_name(encoding)).second);
    CHECK(encoding_named(encoding_name(encoding)) == encoding);
  }
  CHECK(names.size() == 8);
  for (int bits = 0; bits < 32; ++bits) {
    const Encoding encoding = {
        Scheme::transformer_xl, 64, false, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0,
        (bits & 16) != 0};
    CHECK(encoding_named(encoding_name(encoding)) == encoding);
    names.insert(encoding_name(encoding));
  }
  CHECK(names.size() == 6 + 32);
}

TEST_CASE("Names say which terms are on and whether values know their distance") {
  CHECK(encoding_name({}) == "transformer_xl");
  const Encoding some = encoding_named("transformer_xl:acd+values");
  CHECK((some.term_a && !some.term_b && some.term_c && some.term_d && some.position_in_values));
  const Encoding no_term = encoding_named("transformer_xl:none");
  CHECK_FALSE((no_term.term_a || no_term.term_b || no_term.term_c || no_term.term_d || no_term.position_in_values));
}

TEST_CASE("A name that is none is an error that lists those there are") {
  for (const char* wrong : {"", "Shaw", "shaw ", "shaw+values", "transformer_xl:", "transformer_xl:e",
                            "transformer_xl:ba", "transformer_xl:abcd", "transformer_xl+values:ac"}) {
    CAPTURE(wrong);
    const std::string message = message_of<ValueError>([&] { encoding_named(wrong); });
    CHECK(holds(message, "no \"" + std::string(wrong) + "\""));
    CHECK(holds(message, "none, sinusoids_restarting, sinusoids_running, learned_absolute, shaw, learned_relative"));
  }
}

TEST_CASE("Rows, terms, values and clamp_length that make no sense are errors") {
  const Config config = tiny_config();
  const auto error = [](const Encoding& e, const Config& c) { return thrown_by<ValueError>([&] { check(e, c); }); };
  for (Encoding encoding : all_encodings()) CHECK(error(encoding, config) == "");
  for (const Index rows : {Index(0), Index(-1), Index(1) << 40}) {
    Encoding shaw = encoding_named("shaw");
    shaw.rows = rows;
    CHECK(holds(error(shaw, config), "rows must be in 1 .. 1073741824, got " + std::to_string(rows)));
  }
  Encoding none = encoding_named("none");
  none.term_b = false;
  CHECK(holds(error(none, config), "not in none"));
  Encoding shaw = encoding_named("shaw");
  shaw.position_in_values = true;
  CHECK(holds(error(shaw, config), "not in shaw"));
  Config clamped = config;
  clamped.clamp_length = 3;
  CHECK(holds(error(encoding_named("learned_relative"), clamped), "clamp_length = 3"));
  CHECK(error({}, clamped) == "");
}

}  // namespace segue::xl_encoding_test
