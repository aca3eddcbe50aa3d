// The arguments of a lesson: `key=value` words that set the members of a plain struct, each of which has a default.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tensor/error.hpp"
#include "tensor/real.hpp"

namespace segue {

/// What the user typed has no meaning; the message names the argument and says what was expected.
struct ArgumentError : ValueError {
  using ValueError::ValueError;
};

/// As `minimum` of a double: any number above 0.
inline constexpr double positive = std::numeric_limits<double>::min();

/// A list of names with their meaning. `add` keeps a reference to the value it is given, which `parse` sets; what the
/// value holds at the time of `add` is the default shown by `help`. Both bounds are inclusive.
class Arguments {
 public:
  Arguments(std::string program, std::string description);

  void add(const std::string& name, Index& value, const std::string& meaning,
           Index minimum = std::numeric_limits<Index>::min(), Index maximum = std::numeric_limits<Index>::max());
  void add(const std::string& name, double& value, const std::string& meaning,
           double minimum = std::numeric_limits<double>::lowest(), double maximum = std::numeric_limits<double>::max());
  void add(const std::string& name, bool& value, const std::string& meaning);
  void add(const std::string& name, std::string& value, const std::string& meaning);
  /// A comma list of at least one number, no two alike; the bounds hold for each.
  void add(const std::string& name, std::vector<Index>& values, const std::string& meaning,
           Index minimum = std::numeric_limits<Index>::min(), Index maximum = std::numeric_limits<Index>::max());

  /// Sets the values. Throws ArgumentError for a word that is not key=value, an unknown key (suggesting the nearest), a
  /// key given twice, and a value that is malformed or out of bounds.
  void parse(const std::vector<std::string>& words) const;
  /// The program, what it shows, and a line for each argument with its default and meaning.
  std::string help() const;
  const std::string& program() const { return program_; }

 private:
  struct Argument {
    std::string name, meaning, initial, expected;
    std::function<bool(const std::string&)> set;  // false when the text is not what is expected
  };
  std::string nearest(const std::string& name) const;

  std::string program_, description_;
  std::vector<Argument> arguments_;
};

/// Throws ArgumentError unless `value`, that of argument `name`, is one of the choices.
void check_choice(const std::string& name, const std::string& value, const std::vector<std::string>& choices);

}  // namespace segue
