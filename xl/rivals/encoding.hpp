// Which position encoding a model uses: Transformer-XL's own, or one of those it is compared with.
#pragma once

#include <string>
#include <vector>

#include "tensor/error.hpp"
#include "xl/config.hpp"

namespace segue {

enum class Scheme {
  none,                  // a query knows what may be seen and nothing else
  sinusoids_restarting,  // added to the input, counted from 0 in every segment
  sinusoids_running,     // added to the input, counted on across segments
  learned_absolute,      // a learned row for each position, added to the input, counted on across
                         // segments
  shaw,                  // learned rows for distances, in keys and values (Shaw et al. 2018)
  learned_relative,      // learned rows for distances with a bias for each
  transformer_xl         // sinusoids of distances (Dai et al. 2019)
};

struct Encoding {
  Scheme scheme = Scheme::transformer_xl;
  Index rows = 64;  // of a learned table: positions or distances 0 .. rows-1; longer distances take
                    // the last row
  bool clamp = false;  // learned_absolute: positions beyond the table take the last row instead of
                       // being an error
  bool term_a = true, term_b = true, term_c = true,
       term_d = true;               // transformer_xl: which of its terms are on
  bool position_in_values = false;  // transformer_xl: values know their distance, too

  bool operator==(const Encoding&) const = default;
};

/// Throws ValueError unless `rows` is in 1 .. 2^30, terms and values are those of Transformer-XL
/// where the scheme is another, and config.clamp_length is 0 there.
void check(const Encoding& encoding, const Config& config, Where where = Where::current());

/// "shaw", "transformer_xl"; "transformer_xl:acd" with three of its terms, "transformer_xl:none"
/// without any, "transformer_xl+values" with the position in the values, "transformer_xl:ac+values"
/// with both.
std::string encoding_name(const Encoding& encoding);

/// The encoding of that name, rows and clamp at their defaults. Throws ValueError with the names
/// there are.
Encoding encoding_named(const std::string& name, Where where = Where::current());

/// One of each scheme, in the order above, and Transformer-XL's with the position in the values.
std::vector<Encoding> all_encodings();

}  // namespace segue
