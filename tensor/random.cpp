#include "tensor/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <locale>
#include <numbers>
#include <sstream>

#include "tensor/fail.hpp"
#include "tensor/kernels/math.hpp"

namespace segue {

double Random::uniform() { return static_cast<double>(generator_() >> 11) * 0x1p-53; }

double Random::normal() {
  const double radius = std::sqrt(-2 * math::log(1 - uniform()));
  return radius * math::cos(2 * std::numbers::pi * uniform());
}

Index Random::below(Index n, Where where) {
  if (n <= 0) fail<ValueError>(where, "below: needs a limit above 0, got {}", n);
  // The largest multiple of n is cut off, so that every remainder comes from equally many draws.
  const auto limit = static_cast<std::uint64_t>(n);
  const std::uint64_t surplus = (std::numeric_limits<std::uint64_t>::max() % limit + 1) % limit;
  std::uint64_t draw = generator_();
  while (draw > std::numeric_limits<std::uint64_t>::max() - surplus) draw = generator_();
  return static_cast<Index>(draw % limit);
}

Tensor Random::uniform(const Shape& shape, Real low, Real high, Where where) {
  Tensor x = Tensor::uninitialized(shape, where);
  Real* out = x.data_in_place();
  const Real last = high > low ? std::nextafter(high, low) : high;  // rounding may reach `high`
  for (Index i = 0; i < x.size(); ++i) {
    out[i] = std::min(low + (high - low) * static_cast<Real>(uniform()), last);
  }
  return x;
}

Tensor Random::normal(const Shape& shape, Real mean, Real deviation, Where where) {
  Tensor x = Tensor::uninitialized(shape, where);
  Real* out = x.data_in_place();
  for (Index i = 0; i < x.size(); ++i) out[i] = mean + deviation * static_cast<Real>(normal());
  return x;
}

std::string Random::state() const {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << generator_;
  return out.str();
}

void Random::restore(const std::string& state, Where where) {
  std::istringstream in(state);
  in.imbue(std::locale::classic());
  Random restored(0);
  // Streams also read shortened, signed or longer text; only what writes back the same is a state.
  if (!(in >> restored.generator_) || restored.state() != state) {
    fail<ValueError>(where, "not the state of a random generator");
  }
  generator_ = restored.generator_;
}

}  // namespace segue
