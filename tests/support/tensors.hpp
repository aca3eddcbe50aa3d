// What the tests of tensors share: random shapes and views, walks over every element, and a look at error messages.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tensor/error.hpp"
#include "tensor/kernels/thread_team.hpp"
#include "tensor/parallel.hpp"
#include "tensor/plain.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

namespace segue {

using Position = std::vector<Index>;

/// Up to `max_rank` axes of length 1 to 4, one in sixteen of length 0.
inline Shape random_shape(Random& random, int max_rank) {
  Shape shape;
  for (Index axes = random.below(max_rank + 1); axes > 0; --axes) {
    shape.push_back(random.below(16) == 0 ? 0 : 1 + random.below(4));
  }
  return shape;
}

/// Multiples of 1/64 between -2 and 2: sums and products of a few thousand are exact, whatever their order.
inline Tensor random_tensor(Random& random, const Shape& shape) {
  Tensor x = Tensor::uninitialized(shape);
  Real* out = x.data_in_place();
  for (Index i = 0; i < x.size(); ++i) out[i] = static_cast<Real>(random.below(257) - 128) / 64;
  return x;
}

/// The same under any strides a tensor can have: plain, permuted, a window, every other element, a broadcast axis.
inline Tensor random_view(Random& random, const Shape& shape) {
  if (shape.rank() == 0) return random_tensor(random, {3}).narrow(0, 1, 1).reshape({});
  const int axis = static_cast<int>(random.below(shape.rank()));
  Shape larger = shape;
  switch (random.below(5)) {
    case 0:
      return random_tensor(random, shape);
    case 1:
      std::swap(larger[0], larger[axis]);
      return random_tensor(random, larger).transpose(0, axis);
    case 2:
      larger[axis] += 3;
      return random_tensor(random, larger).narrow(axis, 2, shape[axis]);
    case 3:
      larger.push_back(2);
      return random_tensor(random, larger).narrow(-1, 1, 1).reshape(shape);
    default:
      larger[axis] = 1;
      return random_tensor(random, larger).broadcast_to(shape);
  }
}

/// Calls body(position) for every element of a shape, in row-major order.
template <class Body>
void for_each_position(const Shape& shape, const Body& body) {
  Position position(static_cast<std::size_t>(shape.rank()), 0);
  for (Index count = shape.size(); count > 0; --count) {
    body(std::as_const(position));
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      Index& index = position[static_cast<std::size_t>(axis)];
      if (++index < shape[axis]) break;
      index = 0;
    }
  }
}

/// One element, through at().
inline Real element(const Tensor& x, const Position& p) {
  switch (p.size()) {
    case 0:
      return x.at({});
    case 1:
      return x.at({p[0]});
    case 2:
      return x.at({p[0], p[1]});
    case 3:
      return x.at({p[0], p[1], p[2]});
    default:
      return x.at({p[0], p[1], p[2], p[3]});
  }
}

/// The element of x that broadcasting puts at a position of the result.
inline Real broadcast_element(const Tensor& x, const Position& p) {
  Position own(p.end() - x.rank(), p.end());
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (x.shape()[axis] == 1) own[static_cast<std::size_t>(axis)] = 0;
  }
  return element(x, own);
}

/// Equal shapes, and equal to the last bit, NaN and the sign of zero included.
inline bool same_bits(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape())) return false;
  const std::vector<Real> x = a.to_vector(), y = b.to_vector();
  return x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(Real)) == 0;
}

inline bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The message of the ErrorType that f throws, which must name the line that calls: the one on which f stands.
template <class ErrorType, class F>
std::string message_of(const F& f, Where where = Where::current()) {
  try {
    f();
  } catch (const ErrorType& error) {
    const std::string message = error.what();
    CAPTURE(message);
    CHECK(holds(message, "(at " + short_location(where) + ")"));
    return message;
  }
  FAIL_CHECK("nothing was thrown at " << short_location(where));
  return "";
}

/// Another number of threads until the end of the block.
class Threads {
 public:
  explicit Threads(int count) : before_(thread_count()) { set_thread_count(count); }
  ~Threads() { set_thread_count(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

/// While one lives, parallel_for shares even what is small. At its end a task must have been shared, unless there is
/// only one thread or ops run plain.
class SharingThreads {
 public:
  explicit SharingThreads(int count) : threads_(count), divisor_(grain_divisor), before_(shared_tasks()) {
    grain_divisor = std::numeric_limits<Index>::max();
  }
  ~SharingThreads() {
    grain_divisor = divisor_;
    if (thread_count() > 1 && !plain()) CHECK(shared_tasks() > before_);
  }
  SharingThreads(const SharingThreads&) = delete;
  SharingThreads& operator=(const SharingThreads&) = delete;

 private:
  Threads threads_;
  Index divisor_;
  std::uint64_t before_;
};

}  // namespace segue
