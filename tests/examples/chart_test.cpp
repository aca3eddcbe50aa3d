#include "examples/support/chart.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <sstream>

#include "examples/support/chart_layout.hpp"
#include "examples/support/chart_scale.hpp"
#include "examples/support/terminal.hpp"
#include "tests/support/svg.hpp"

namespace segue::examples_chart_test {

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

// Three memories, measured and in theory; the first two coincide up to position 6.
Chart memory_chart() {
  Chart chart{"Loss by position", "Three memories.", {"position", ""}, {"loss", "nats"}};
  for (int memory : {0, 16, 32}) {
    Series series{"M = " + std::to_string(memory), {}, {}};
    for (int i = 0; i < 16; ++i) {
      series.x.push_back(i);
      series.y.push_back(memory == 32 || (memory == 16 && i > 6) ? 0.01 : std::log(16.0));
    }
    chart.series.push_back(series);
    series.kind = Kind::theory;
    chart.series.push_back(series);
  }
  chart.references.push_back({"ln 16 = 2.77", std::log(16.0)});
  return chart;
}

Chart chart_of(std::vector<double> x, std::vector<double> y) {
  return {"title", "description", {"x", ""}, {"y", ""}, {{"series", std::move(x), std::move(y)}}};
}

}  // namespace

TEST_CASE("an SVG has its titles, units, labels, legend and a description") {
  const std::string svg = to_svg(memory_chart());
  CHECK(is_well_formed(svg));
  for (const char* part : {"role=\"img\"", "viewBox=\"0 0 720 ", "<title id=\"title\">Loss by position</title>",
                           "<desc id=\"desc\">Three memories.</desc>", "fill=\"#fff\"", "font-family=",
                           ">loss (nats)</text>", ">position</text>", ">M = 16</text>", ">measured</text>",
                           ">theory</text>", ">ln 16 = 2.77</text>", ">3.0</text>", "stroke-dasharray=\"6 4\""}) {
    CAPTURE(part);
    CHECK(contains(svg, part));
  }
}

TEST_CASE("text in an SVG is escaped") {
  Chart chart = chart_of({0, 1}, {0, 1});
  chart.title = "a < b & \"c\" > d\x01";
  chart.series[0].name = "<script>";
  chart.references.push_back({"R&D", 0.5, true});
  const std::string svg = to_svg(chart);
  CHECK(is_well_formed(svg));
  CHECK(contains(svg, "a &lt; b &amp; &quot;c&quot; &gt; d "));
  CHECK(contains(svg, "&lt;script&gt;"));
  CHECK(contains(svg, "R&amp;D"));
  CHECK_FALSE(contains(svg, "\x01"));
}

TEST_CASE("no data breaks a chart") {
  const std::vector<Chart> charts{Chart{},
                                  chart_of({}, {}),
                                  chart_of({3}, {5}),
                                  chart_of({1, 2, 3}, {7, 7, 7}),
                                  chart_of({1, 1}, {0, 0}),
                                  chart_of({0, 1, 2, 3}, {not_a_number, not_a_number, not_a_number, not_a_number}),
                                  chart_of({0, not_a_number, 2}, {1, 2, inf}),
                                  chart_of({-1e308, 1e308}, {-1.7e308, 1.7e308}),
                                  chart_of({0, 1}, {-1e300, 1e300}),
                                  chart_of({0, 1e-310}, {5e-324, 1e-320}),
                                  chart_of({0, 1}, {1e16, 1e16 + 2}),
                                  chart_of({0, 1}, {1e-9, 2e9}),
                                  chart_of(std::vector<double>(3000, 1.0), std::vector<double>(3000, not_a_number))};
  for (const Chart& chart : charts) {
    Chart referenced = chart;
    referenced.references = {{"a", 1}, {"b", not_a_number}, {"c", 0.5, true}, {"d", -inf, true}};
    for (Chart drawn : {chart, referenced}) {
      for (const bool logarithmic : {false, true}) {
        drawn.x.logarithmic = drawn.y.logarithmic = logarithmic;
        CHECK(is_well_formed(to_svg(drawn)));
        CHECK_FALSE(contains(to_text(drawn, false), "nan"));
      }
    }
  }
}

TEST_CASE("a series whose x and y differ in length is an error") {
  CHECK_THROWS_AS(to_svg(chart_of({1, 2}, {1})), ValueError);
  CHECK_THROWS_AS(to_text(chart_of({1, 2}, {1}), false), ValueError);
}

TEST_CASE("a value that is not finite is a gap in the line") {
  const auto line_of = [](const Chart& chart) {
    std::smatch match;
    const std::string svg = to_svg(chart);
    REQUIRE(std::regex_search(svg, match, std::regex("<path d=\"([^\"]*)\" fill=\"none\"")));
    return match[1].str();
  };
  CHECK(count(line_of(chart_of({0, 1, 2, 3, 4}, {1, 2, 3, 4, 5})), "M") == 1);
  CHECK(count(line_of(chart_of({0, 1, 2, 3, 4}, {1, 2, not_a_number, 4, 5})), "M") == 2);
  CHECK(count(line_of(chart_of({0, 1, 2, 3, 4}, {1, 2, not_a_number, 4, 5})), "L") == 2);
}

TEST_CASE("a terminal chart stays inside its width, with colour only when asked") {
  Chart chart = memory_chart();
  chart.title = "A long title that says in one sentence what the reader should see in the chart, and then a bit more";
  for (bool steps : {false, true}) {
    for (Series& series : chart.series) series.steps = steps;
    for (int width : {10, 40, 80, 100, 300}) {
      std::istringstream lines(to_text(chart, false, width));
      for (std::string line; std::getline(lines, line);) CHECK(columns(line) <= std::clamp(width, 40, 100));
    }
  }
  CHECK_FALSE(contains(to_text(chart, false), "\x1b"));
  const std::string colored = to_text(chart, true);
  CHECK(std::regex_replace(colored, std::regex("\x1b\\[[0-9;]*m"), "") == to_text(chart, false));
  CHECK(contains(colored, "\x1b[38;5;"));
}

TEST_CASE("a terminal chart has a mark for each series, where measured meets theory too") {
  const std::string text = to_text(memory_chart(), false);
  for (const char* part :
       {"loss (nats)", "position", "● M = 0", "■ M = 16", "▲ M = 32", "○ theory", "3.0 ┤", "┄ ln 16 = 2.77"}) {
    CAPTURE(part);
    CHECK(contains(text, part));
  }
  CHECK(count(text, "◉") == 1 + 13);  // the legend, and all but three of the seven positions that M = 16 shares
  CHECK(count(text, "▣") == 3 + 4);   // its turns among M = 0, then among M = 32
  CHECK(count(text, "◬") == 16 - 4);
}

TEST_CASE("series that coincide take turns, and at every point one of them is drawn") {
  const Chart chart = memory_chart();
  for (std::size_t i = 0; i < 16; ++i) {
    const bool first = has_turn(chart, chart.series[0], i, i, 0.01);
    const bool second = has_turn(chart, chart.series[2], i, i, 0.01);
    if (i <= 6) CHECK(first != second);
    if (i > 6) CHECK(first);
    CHECK(first == has_turn(chart, chart.series[1], i, i, 0.01));  // the theory keeps step
  }
}

TEST_CASE("ticks are round numbers inside the axis") {
  const auto labels = [](double low, double high) { return make_scale(low, high, 6, 0, true).labels; };
  using Labels = std::vector<std::string>;
  CHECK(labels(0.01, 2.77) == Labels{"0", "0.5", "1.0", "1.5", "2.0", "2.5", "3.0"});
  CHECK(labels(-1, 1) == Labels{"−1.0", "−0.5", "0", "0.5", "1.0"});
  CHECK(labels(0, 15) == Labels{"0", "5", "10", "15"});
  CHECK(labels(0, 2e9) == Labels{"0", "5.0e+08", "1.0e+09", "1.5e+09", "2.0e+09"});
  for (double size : {1e-200, 1e-7, 0.3, 1.0, 7.0, 1e5, 1e200}) {
    for (double share : {0.0, 0.37, 0.9, 0.999}) {
      const AxisScale scale = make_scale(size * share, size, 6, 0, true);
      CAPTURE(size);
      CAPTURE(share);
      CHECK(scale.low <= size * share * (1 + 1e-8));
      CHECK(scale.high >= size * (1 - 1e-8));
      CHECK(scale.ticks.size() >= 2);
      CHECK(scale.ticks.size() <= 9);
      CHECK(std::adjacent_find(scale.labels.begin(), scale.labels.end()) == scale.labels.end());
    }
  }
}

TEST_CASE("ticks of a logarithmic axis are round numbers: powers of ten where it is long, more where it is short") {
  const auto labels = [](double low, double high, bool widen = true) {
    return make_logarithmic_scale(std::log10(low), std::log10(high), 6, 0, widen).labels;
  };
  using Labels = std::vector<std::string>;
  CHECK(labels(0.002, 3) == Labels{"0.001", "0.01", "0.1", "1", "10"});
  CHECK(labels(3e-6, 0.1) == Labels{"1e-6", "1e-5", "1e-4", "0.001", "0.01", "0.1"});
  CHECK(labels(7, 2e5) == Labels{"1", "10", "100", "1000", "10000", "1e5", "1e6"});
  CHECK(labels(1, 16) == Labels{"1", "2", "5", "10", "20"});
  CHECK(labels(64, 2048, false) == Labels{"100", "200", "500", "1000", "2000"});
  CHECK(labels(1e-30, 1) == Labels{"1e-30", "1e-25", "1e-20", "1e-15", "1e-10", "1e-5", "1"});
  CHECK(labels(3.1, 3.9) == Labels{"3.0", "3.2", "3.4", "3.6", "3.8", "4.0"});
  CHECK(labels(5, 5) == Labels{"1", "2", "5", "10", "20"});
  CHECK(labels(1, 1e-9).size() > 1);  // nothing to draw
  for (const double low : {1e-300, 1e-7, 0.3, 7.0, 1e200}) {
    for (const double ratio : {1.0, 1.0001, 1.9, 2.6, 11.0, 3e4, 1e17, 1e99}) {
      const AxisScale scale = make_logarithmic_scale(std::log10(low), std::log10(low * ratio), 6, 0, true);
      CAPTURE(low);
      CAPTURE(ratio);
      CHECK(scale.low <= std::log10(low) + 1e-8);
      CHECK(scale.high >= std::log10(low * ratio) - 1e-8);
      CHECK(scale.ticks.size() >= 2);
      CHECK(scale.ticks.size() <= 9);
      CHECK(std::adjacent_find(scale.labels.begin(), scale.labels.end()) == scale.labels.end());
    }
  }
}

TEST_CASE("a logarithmic axis puts equal ratios at equal steps, 0 on a tick of its own, and has a gap below 0") {
  Chart chart = chart_of({1, 10, 100, 1000, 10000}, {0.5, 0.05, 0, -3, 0.0005});
  chart.x.logarithmic = chart.y.logarithmic = true;
  chart.references = {{"wall", 10, true}};
  const Layout layout = lay_out(chart, 10, 6, Where::current());
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(layout.x.at(layout.chart.series[0].x[i]) == doctest::Approx(static_cast<double>(i) / 4));
  CHECK(layout.x.at(layout.chart.references[0].value) == doctest::Approx(0.25));
  CHECK(layout.y.labels == std::vector<std::string>{"0", "1e-4", "0.001", "0.01", "0.1", "1"});
  CHECK(layout.y.ticks[0] == layout.y.low);
  const Series& drawn = layout.chart.series[0];
  CHECK(layout.y.at(drawn.y[2]) == 0);
  CHECK_FALSE(is_point(drawn, 3));
  CHECK(layout.y.at(drawn.y[0]) - layout.y.at(drawn.y[1]) == doctest::Approx(0.2));
  CHECK(contains(to_text(chart, false), "    0 ┤"));
  CHECK(contains(to_svg(chart), ">0</text>"));

  chart.series[0].y[2] = 0.01;  // without a zero there is no place for it
  CHECK(lay_out(chart, 10, 6, Where::current()).y.labels[0] == "1e-4");
}

TEST_CASE("an axis that counts has no ticks between whole numbers") {
  CHECK(lay_out(chart_of({0, 1, 2}, {0, 1, 2}), 10, 6, Where::current()).x.labels ==
        std::vector<std::string>{"0", "1", "2"});
  CHECK(lay_out(chart_of({0, 0.5, 2}, {0, 1, 2}), 10, 6, Where::current()).x.labels.size() > 3);
}

TEST_CASE("an axis of names has one tick for each name, the first at 1, and room at both ends") {
  Chart chart = chart_of({0.5, 0.25, 0.75}, {1, 2, 3});
  chart.y.names = {"first", "second", "third"};
  const AxisScale y = lay_out(chart, 10, 6, Where::current()).y;
  CHECK(y.labels == chart.y.names);
  CHECK(y.ticks == std::vector<double>{1, 2, 3});
  CHECK(y.low == 0.5);
  CHECK(y.high == 3.5);
  CHECK(contains(to_svg(chart), ">second</text>"));
  const std::string text = to_text(chart, false);
  CHECK(text.find("third ┤") < text.find("second ┤"));  // upwards, like numbers
  CHECK(text.find("second ┤") < text.find("first ┤"));
  chart.y.names.pop_back();  // a value without a name is drawn all the same
  CHECK(lay_out(chart, 10, 6, Where::current()).y.high == 3);
  chart.x.names = {"one"};
  CHECK(lay_out(chart, 10, 6, Where::current()).x.low == 0.25);
}

}  // namespace segue::examples_chart_test
