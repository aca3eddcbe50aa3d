// An SVG document of text and lines, in the one style of all pictures. For the files that draw one.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace segue {

inline constexpr double svg_width = 720, svg_margin = 24;

/// With the signs that mean something in XML replaced, and no control characters, which it cannot hold.
std::string escape(const std::string& text);

/// Without the metrics of a font, a guess that is a little too wide.
double text_width(const std::string& text, double size = 13);
double widest_text(const std::vector<std::string>& labels);

/// A document that grows.
struct Svg {
  std::string body;

  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(body), format, std::forward<Values>(values)...);
    body += '\n';
  }
  void text(double x, double y, const char* anchor, const std::string& content, const char* more = "");
  void line(double x1, double y1, double x2, double y2, const char* style);
  void sideways(double x, double y, const std::string& content);
  /// Returns the y below the title.
  double title(const std::string& content);
  std::string document(const std::string& title, const std::string& description, double height,
                       double width = svg_width) const;
};

}  // namespace segue
