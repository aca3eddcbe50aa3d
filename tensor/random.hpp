// Random numbers with the same values from the same seed on every compiler: the standard fixes the
// generator (std::mt19937_64) but not its distributions, so those are made here.
#pragma once

#include <random>
#include <string>

#include "tensor/tensor.hpp"

namespace segue {

class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}

  /// Uniform in [0, 1), 53 random bits.
  double uniform();
  /// Normal with mean 0 and deviation 1 (Box and Muller 1958).
  double normal();
  /// Uniform among 0 .. n-1 without bias. Throws ValueError unless n > 0.
  Index below(Index n, Where where = Where::current());

  Tensor uniform(const Shape& shape, Real low, Real high, Where where = Where::current());
  Tensor normal(const Shape& shape, Real mean, Real deviation, Where where = Where::current());

  /// Where the generator stands, as text for a checkpoint.
  std::string state() const;
  /// Goes on from there. Throws ValueError on any other text and then changes nothing.
  void restore(const std::string& state, Where where = Where::current());

 private:
  std::mt19937_64 generator_;
};

}  // namespace segue
