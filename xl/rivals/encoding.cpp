#include "xl/rivals/encoding.hpp"

#include <fmt/format.h>

#include <array>

#include "tensor/fail.hpp"

namespace segue {
namespace {

constexpr std::array scheme_names = {
    "none", "sinusoids_restarting", "sinusoids_running", "learned_absolute",
    "shaw", "learned_relative",     "transformer_xl"};

bool has_all_terms(const Encoding& e) { return e.term_a && e.term_b && e.term_c && e.term_d; }

// "acd"; "none" for no term at all.
std::string names_of_terms(const Encoding& e) {
  std::string names;
  if (e.term_a) names += 'a';
  if (e.term_b) names += 'b';
  if (e.term_c) names += 'c';
  if (e.term_d) names += 'd';
  return names.empty() ? "none" : names;
}

// All names of Transformer-XL's variants are tried, so that there is one spelling of each and no
// second grammar.
std::vector<Encoding> encodings_that_have_a_name() {
  std::vector<Encoding> all;
  for (std::size_t scheme = 0; scheme < scheme_names.size(); ++scheme) {
    Encoding encoding;
    encoding.scheme = static_cast<Scheme>(scheme);
    all.push_back(encoding);
  }
  for (int bits = 0; bits < 32; ++bits) {
    Encoding encoding;
    encoding.term_a = (bits & 1) != 0;
    encoding.term_b = (bits & 2) != 0;
    encoding.term_c = (bits & 4) != 0;
    encoding.term_d = (bits & 8) != 0;
    encoding.position_in_values = (bits & 16) != 0;
    all.push_back(encoding);
  }
  return all;
}

}  // namespace

void check(const Encoding& encoding, const Config& config, Where where) {
  constexpr Index most = Index(1) << 30;  // as for the numbers of a config
  if (encoding.rows < 1 || encoding.rows > most) {
    fail<ValueError>(where, "encoding: rows must be in 1 .. {}, got {}", most, encoding.rows);
  }
  if (encoding.scheme == Scheme::transformer_xl) return;
  if (!has_all_terms(encoding) || encoding.position_in_values) {
    fail<ValueError>(where,
                     "encoding: terms and values are switched in transformer_xl only, not in {}",
                     scheme_names[static_cast<std::size_t>(encoding.scheme)]);
  }
  if (config.clamp_length > 0) {
    fail<ValueError>(
        where,
        "encoding: clamp_length = {} is of transformer_xl only; {} has none, so it must be 0",
        config.clamp_length, encoding_name(encoding));
  }
}

std::string encoding_name(const Encoding& encoding) {
  std::string name = scheme_names[static_cast<std::size_t>(encoding.scheme)];
  if (!has_all_terms(encoding)) name.append(":").append(names_of_terms(encoding));
  if (encoding.position_in_values) name += "+values";
  return name;
}

Encoding encoding_named(const std::string& name, Where where) {
  for (const Encoding& encoding : encodings_that_have_a_name()) {
    if (encoding_name(encoding) == name) return encoding;
  }
  fail<ValueError>(
      where,
      "encoding: there is no \"{}\"; expected one of {}, or with some of its terms, as in {}", name,
      fmt::join(scheme_names, ", "), "transformer_xl:acd or transformer_xl+values");
}

std::vector<Encoding> all_encodings() {
  std::vector<Encoding> all;
  for (const char* name : scheme_names) all.push_back(encoding_named(name));
  all.push_back(encoding_named("transformer_xl+values"));
  return all;
}

}  // namespace segue
