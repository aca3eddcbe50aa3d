#include "examples/support/svg.hpp"

#include <algorithm>

#include "examples/support/chart_layout.hpp"
#include "examples/support/terminal.hpp"

namespace segue {

std::string escape(const std::string& text) {
  std::string escaped;
  for (char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return escaped;
}

double text_width(const std::string& text, double size) { return 0.56 * size * columns(text); }

double widest_text(const std::vector<std::string>& labels) {
  double most = 0;
  for (const std::string& label : labels) most = std::max(most, text_width(label));
  return most;
}

void Svg::text(double x, double y, const char* anchor, const std::string& content, const char* more) {
  add("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>", x, y, anchor, more, escape(content));
}

void Svg::line(double x1, double y1, double x2, double y2, const char* style) {
  add("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>", x1, y1, x2, y2, style);
}

void Svg::sideways(double x, double y, const std::string& content) {
  add("<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>", x, y,
      escape(content));
}

double Svg::title(const std::string& content) {
  double y = svg_margin;
  for (const std::string& words : wrap(content, 72)) {
    text(svg_margin, y + 6, "start", words, " font-size=\"16\" font-weight=\"bold\"");
    y += 21;
  }
  return y;
}

std::string Svg::document(const std::string& title, const std::string& description, double height, double width) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\""
      " role=\"img\" aria-labelledby=\"title desc\" font-family=\"Helvetica Neue, Helvetica, Arial, DejaVu Sans, "
      "sans-serif\" font-size=\"13\" fill=\"#222\">\n<title id=\"title\">{2}</title>\n<desc id=\"desc\">{3}</desc>\n"
      "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#fff\"/>\n{4}</svg>\n",
      width, height, escape(title), escape(description), body);
}

}  // namespace segue
