#include "examples/support/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <locale>
#include <set>
#include <sstream>
#include <utility>

#include "examples/support/chart_layout.hpp"

namespace segue {

namespace {

// Sets `value` and returns true when the whole of `text` is a number inside the bounds.
bool read_number(const std::string& text, Index& value, Index minimum, Index maximum) {
  Index read = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, read);
  if (error != std::errc() || stop != end || read < minimum || read > maximum) return false;
  value = read;
  return true;
}

// Not every standard library has std::from_chars for double yet; a stream does the same once it is told to forget the
// user's locale. The first test keeps out what streams take but we do not: blanks, hexadecimals, "inf".
bool read_number(const std::string& text, double& value, double minimum, double maximum) {
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string::npos) return false;
  std::istringstream stream(text);
  stream.imbue(std::locale::classic());
  double read = 0;
  if (!(stream >> read) || stream.peek() != std::istringstream::traits_type::eof()) return false;
  if (read < minimum || read > maximum) return false;
  value = read;
  return true;
}

bool read_list(const std::string& text, std::vector<Index>& values, Index minimum, Index maximum) {
  std::vector<Index> read;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (!read_number(text.substr(begin, end - begin), read.emplace_back(), minimum, maximum)) return false;
    begin = end + 1;
  }
  if (std::set<Index>(read.begin(), read.end()).size() < read.size()) return false;
  values = std::move(read);
  return true;
}

bool read_bool(const std::string& text, bool& value) {
  if (text != "true" && text != "false") return false;
  value = text == "true";
  return true;
}

// " from 1 to 8", " of at least 1", " of at most 8", or nothing where the bounds are those of the type.
template <class Number>
std::string bounds(Number minimum, Number maximum) {
  const bool low = minimum > std::numeric_limits<Number>::lowest();
  const bool high = maximum < std::numeric_limits<Number>::max();
  if constexpr (std::is_same_v<Number, double>) {
    if (minimum == positive) return high ? fmt::format(" above 0 and up to {}", maximum) : " above 0";
  }
  if (low && high) return fmt::format(" from {} to {}", minimum, maximum);
  if (low) return fmt::format(" of at least {}", minimum);
  return high ? fmt::format(" of at most {}", maximum) : "";
}

// Levenshtein: the fewest letters to insert, delete or replace that turn one word into the other.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);  // distances of the letters of a so far to each beginning of b
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row[b.size()];
}

// Without leading dashes and in small letters: how a name is meant.
std::string bare(const std::string& name) {
  std::string letters = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  for (char& c : letters) c = 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return letters;
}

std::string comma_list(const std::vector<Index>& values) {
  std::string text;
  for (Index value : values) text += fmt::format("{}{}", text.empty() ? "" : ",", value);
  return text;
}

}  // namespace

Arguments::Arguments(std::string program, std::string description)
    : program_(std::move(program)), description_(std::move(description)) {}

void Arguments::add(const std::string& name, Index& value, const std::string& meaning, Index minimum, Index maximum) {
  arguments_.push_back({name, meaning, fmt::format("{}", value), "a whole number" + bounds(minimum, maximum),
                        [=, &value](const std::string& text) { return read_number(text, value, minimum, maximum); }});
}

void Arguments::add(const std::string& name, double& value, const std::string& meaning, double minimum,
                    double maximum) {
  arguments_.push_back({name, meaning, fmt::format("{}", value), "a number" + bounds(minimum, maximum),
                        [=, &value](const std::string& text) { return read_number(text, value, minimum, maximum); }});
}

void Arguments::add(const std::string& name, bool& value, const std::string& meaning) {
  arguments_.push_back({name, meaning, fmt::format("{}", value), "true or false",
                        [&value](const std::string& text) { return read_bool(text, value); }});
}

void Arguments::add(const std::string& name, std::string& value, const std::string& meaning) {
  arguments_.push_back({name, meaning, value, "a text", [&value](const std::string& text) {
                          value = text;
                          return true;
                        }});
}

void Arguments::add(const std::string& name, std::vector<Index>& values, const std::string& meaning, Index minimum,
                    Index maximum) {
  arguments_.push_back({name, meaning, comma_list(values),
                        fmt::format("whole numbers{} with commas between, each once", bounds(minimum, maximum)),
                        [=, &values](const std::string& text) { return read_list(text, values, minimum, maximum); }});
}

void Arguments::parse(const std::vector<std::string>& words) const {
  std::set<std::string> seen;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const auto argument =
        std::find_if(arguments_.begin(), arguments_.end(), [&](const Argument& a) { return a.name == name; });
    if (argument == arguments_.end()) {
      throw ArgumentError(fmt::format("there is no argument {:?}{}; --help lists all", name, nearest(name)));
    }
    if (equals == std::string::npos) {
      throw ArgumentError(fmt::format("{}: expected {}={}, with a value after \"=\"", name, name, argument->initial));
    }
    if (!seen.insert(name).second) throw ArgumentError(fmt::format("{} is given twice", name));
    const std::string value = word.substr(equals + 1);
    if (!argument->set(value)) {
      throw ArgumentError(fmt::format("{}: expected {}, got {:?}", name, argument->expected, value));
    }
  }
}

std::string Arguments::nearest(const std::string& name) const {
  const std::string typed = bare(name);
  const auto nearer = [&](const Argument& a, const Argument& b) {
    return edit_distance(typed, a.name) < edit_distance(typed, b.name);
  };
  const auto argument = std::min_element(arguments_.begin(), arguments_.end(), nearer);
  // With more than two of three letters wrong it would be a guess.
  if (argument == arguments_.end() || 3 * edit_distance(typed, argument->name) > 2 * argument->name.size()) return "";
  return fmt::format(", did you mean \"{}\"", argument->name);
}

std::string Arguments::help() const {
  std::string text =
      fmt::format("{}\n\nusage: {} [key=value ...]\n\nkeys with their defaults:\n", description_, program_);
  std::size_t width = 0;
  for (const Argument& a : arguments_) width = std::max(width, a.name.size() + 1 + a.initial.size());
  const int room = std::max(100 - static_cast<int>(width) - 4, 40);
  for (const Argument& a : arguments_) {
    std::string left = a.name + "=" + a.initial;
    for (const std::string& line : wrap(fmt::format("{} ({})", a.meaning, a.expected), room)) {
      text += fmt::format("  {:<{}}  {}\n", std::exchange(left, ""), width, line);
    }
  }
  return text;
}

void check_choice(const std::string& name, const std::string& value, const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return;
  throw ArgumentError(fmt::format("{}: expected one of {}, got \"{}\"", name, fmt::join(choices, ", "), value));
}

}  // namespace segue
