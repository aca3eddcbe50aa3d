#include "xl/config.hpp"

#include "tensor/fail.hpp"

namespace segue {

void visit_members(Config& c, const std::function<void(const char*, Index&, Index least)>& whole,
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

void check(const Config& config, Where where) {
  constexpr Index most = Index(1) << 30;  // so that a product of two can be counted
  Config c = config;
  visit_members(
      c,
      [&](const char* name, Index& value, Index least) {
        if (value >= least && value <= most) return;
        fail<ValueError>(where, "config: {} must be in {} .. {}, got {}", name, least, most, value);
      },
      [&](const char* name, Real& value) {
        if (!(value >= 0 && value < 1))
          fail<ValueError>(where, "config: {} must be in [0, 1), got {}", name, value);
      },
      [](const char*, bool&) {});
  if (c.width % 2 != 0)
    fail<ValueError>(where, "config: width must be even for the sinusoids, got {}", c.width);
  if (c.same_length && c.memory_length == 0) {
    fail<ValueError>(where, "config: same_length sees distances below memory_length, which is 0");
  }
}

}  // namespace segue
