#include "examples/support/heat_map.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <sstream>

#include "examples/support/heat_map_layout.hpp"
#include "examples/support/terminal.hpp"
#include "tests/support/svg.hpp"

namespace segue::examples_heat_map_test {

namespace {

constexpr Real not_a_number = std::numeric_limits<Real>::quiet_NaN();
constexpr Real inf = std::numeric_limits<Real>::infinity();
constexpr CellLimits roomy{256, 256, 10, 8};

// T = 16 queries over M = 32 and T keys, all weight at distance 23.
HeatMap copying_map() {
  HeatMap map{"A head that copies",
              "Weights.",
              {"key", "tokens from the start of the segment"},
              {"query", ""},
              {"weight", ""},
              Tensor::zeros({16, 48}),
              -32};
  for (Index i = 0; i < 16; ++i) map.values.set_in_place({i, 32 + i - 23}, 1);
  map.boundaries = {{"memory | segment", 0, true}};
  return map;
}

HeatMap map_of(const Shape& shape, const std::vector<Real>& values) {
  return {"title", "description", {"x", ""}, {"y", ""}, {"value", ""}, Tensor(shape, values)};
}

// Wider than an axis of one picture, and both kinds of lines.
HeatMap with_boundaries(HeatMap map) {
  map.boundaries = {{"a", 0, true}, {"a rather long label", 1, true}, {"b", 1}, {"c", 2}, {"far away", 1e9},
                    {"d", inf}};
  return map;
}

}  // namespace

TEST_CASE("a heat map as SVG has its titles, units, ticks, boundary, colour bar and a description") {
  const std::string svg = to_svg(copying_map());
  CHECK(is_well_formed(svg));
  for (const char* part :
       {"role=\"img\"", "viewBox=\"0 0 720 ", "<title id=\"title\">A head that copies</title>",
        "<desc id=\"desc\">Weights.</desc>", ">key (tokens from the start of the segment)</text>", ">query</text>",
        ">weight</text>", ">memory | segment</text>", ">−30</text>", ">0</text>", ">15</text>", ">0.2</text>",
        ">1.0</text>", "fill=\"#fff8e0\"", "fill=\"#1d1147\"", "crispEdges"}) {
    CAPTURE(part);
    CHECK(contains(svg, part));
  }
  CHECK(count(svg, "fill=\"#1d1147\"") == 16);  // one dark cell a query
  CHECK_FALSE(contains(svg, "no value"));
}

TEST_CASE("colours grow darker with the value, in about equal steps, for grey print") {
  for (int k = 0; k < 100; ++k) CHECK(lightness(color_at(k / 100.0)) > lightness(color_at((k + 1) / 100.0)));
  for (int k = 0; k < 10; ++k) {
    const double step = lightness(color_at(k / 10.0)) - lightness(color_at((k + 1) / 10.0));
    CAPTURE(k);
    CHECK(step > 6);
    CHECK(step < 12);
  }
  CHECK(lightness({255, 255, 255}) == doctest::Approx(100).epsilon(1e-3));
  CHECK(lightness({0, 0, 0}) == 0);
}

TEST_CASE("a boundary lies between cells, before the column or row of its value") {
  HeatMap map = copying_map();
  map.first_y = 5;
  map.boundaries.push_back({"later", 8});
  const HeatLayout layout = lay_out(map, roomy, Where::current());
  REQUIRE(layout.x_boundaries.size() == 1);
  CHECK(layout.x_boundaries[0].at == 32);
  REQUIRE(layout.y_boundaries.size() == 1);
  CHECK(layout.y_boundaries[0].at == 3);
  for (const CellLabel& tick : layout.x_ticks) {
    if (tick.text == "0") CHECK(tick.at == 32.5);  // the middle of that column
  }
}

TEST_CASE("a value that is not finite is a gap, and the picture says so") {
  const HeatMap map = map_of({2, 3}, {1, not_a_number, 2, inf, 3, -inf});
  const HeatLayout layout = lay_out(map, roomy, Where::current());
  CHECK(layout.has_gaps);
  CHECK(std::isnan(layout.cell(0, 1)));
  CHECK(std::isnan(layout.cell(1, 0)));
  CHECK(layout.cell(1, 1) == 3);
  CHECK(contains(to_svg(map), "no value"));
  CHECK(contains(to_svg(map), "url(#gap)"));
  CHECK(contains(to_text(map, false), "/ no value"));
  CHECK(contains(to_text(map, false), "///////"));
}

TEST_CASE("where there is no room for all rows and columns, some share a cell that shows their mean") {
  const HeatMap map = map_of({3, 5}, {1, 3, 5, 7, 9, 3, 1, not_a_number, 9, 11, 4, 4, 4, 4, 4});
  const HeatLayout layout = lay_out(map, {2, 3, 10, 8}, Where::current());
  CHECK(layout.rows == 2);
  CHECK(layout.columns == 3);
  CHECK(layout.cells == std::vector<double>{2, 7, 10, 4, 4, 4});
  CHECK_FALSE(layout.has_gaps);
  CHECK(lay_out(map, roomy, Where::current()).columns == 5);
}

TEST_CASE("a small matrix shows its numbers, light on dark cells") {
  const HeatMap map = map_of({2, 2}, {0, Real(0.25), Real(-0.5), 1});
  const std::string svg = to_svg(map);
  for (const char* part : {">0.25</text>", ">−0.50</text>", "fill=\"#fff\">1.00</text>"}) {
    CAPTURE(part);
    CHECK(contains(svg, part));
  }
  CHECK(contains(to_text(map, false), "−0.50   1.00"));
  CHECK_FALSE(contains(to_svg(copying_map()), ">1.00</text>"));
}

TEST_CASE("rows and columns have names in the place of numbers, one for each cell") {
  HeatMap map = map_of({2, 3}, {0, 1, 2, 3, 4, 5});
  map.x_names = {"0.004", "0.008", "0.016"};
  map.y_names = {"a rather long name", "short"};
  const HeatLayout layout = lay_out(map, roomy, Where::current());
  REQUIRE(layout.x_ticks.size() == 3);
  CHECK(layout.x_ticks[2].at == 2.5);
  CHECK(layout.x_ticks[2].text == "0.016");
  REQUIRE(layout.y_ticks.size() == 2);
  CHECK(layout.y_ticks[1].text == "short");
  CHECK(contains(to_svg(map), ">a rather long name</text>"));
  CHECK(contains(to_text(map, false), "a rather long name ┤  0.00   1.00   2.00"));
  CHECK(contains(to_text(map, false), "             short ┤  3.00"));
  CHECK(contains(to_text(map, false), "0.004  0.008  0.016"));
  const HeatLayout shared = lay_out(map, {1, 2, 10, 8}, Where::current());
  REQUIRE(shared.x_ticks.size() == 2);
  CHECK(shared.x_ticks[1].text == "0.016");
  CHECK(shared.x_ticks[1].at == 1.5);
  map.y_names.pop_back();
  CHECK_THROWS_WITH_AS(to_svg(map), doctest::Contains("1 names for 2 rows or columns"), ShapeError);
}

TEST_CASE("no data breaks a heat map") {
  const std::vector<HeatMap> maps{HeatMap{"", "", {"", ""}, {"", ""}, {"", ""}, Tensor::zeros({0, 0})},
                                  map_of({0, 3}, {}),
                                  map_of({3, 0}, {}),
                                  map_of({1, 1}, {7}),
                                  map_of({1, 2}, {not_a_number, inf}),
                                  map_of({2, 1}, {-3e38F, 3e38F}),
                                  map_of({1, 3}, {0, Real(1e-30), Real(2e-30)}),
                                  map_of({1, 400}, std::vector<Real>(400, 1)),
                                  map_of({700, 3}, std::vector<Real>(2100, Real(0.1)))};
  for (const HeatMap& map : maps) {
    for (HeatMap drawn : {map, with_boundaries(map)}) {
      for (const double first : {0.0, -32.0, 1e9}) {
        drawn.first_x = drawn.first_y = first;
        CHECK(is_well_formed(to_svg(drawn)));
        CHECK_FALSE(contains(to_text(drawn, false), "nan"));
      }
    }
  }
}

TEST_CASE("text in the SVG of a heat map is escaped") {
  HeatMap map = with_boundaries(map_of({2, 2}, {1, 2, 3, 4}));
  map.title = "a < b & c";
  map.boundaries[0].label = "<R&D>";
  CHECK(is_well_formed(to_svg(map)));
  CHECK(contains(to_svg(map), "a &lt; b &amp; c"));
  CHECK(contains(to_svg(map), "&lt;R&amp;D&gt;"));
}

TEST_CASE("values without two axes are an error") {
  CHECK_THROWS_AS(to_svg(map_of({2}, {1, 2})), ShapeError);
  CHECK_THROWS_AS(to_text(map_of({1, 1, 2}, {1, 2}), false), ShapeError);
}

TEST_CASE("a heat map in a terminal stays inside its width, with colour only when asked") {
  HeatMap map = copying_map();
  map.title = "A long title that says in one sentence what the reader should see in the map, and then a bit more";
  for (const HeatMap& drawn : {map, with_boundaries(map), map_of({2, 7}, std::vector<Real>(14, Real(0.5))),
                               map_of({3, 500}, std::vector<Real>(1500, 2))}) {
    for (int width : {10, 40, 80, 100, 300}) {
      std::istringstream lines(to_text(drawn, false, width));
      for (std::string line; std::getline(lines, line);) CHECK(columns(line) <= std::clamp(width, 40, 100));
    }
    CHECK_FALSE(contains(to_text(drawn, false), "\x1b"));
    const std::string colored = to_text(drawn, true);
    CHECK(std::regex_replace(colored, std::regex("\x1b\\[[0-9;]*m"), "") == to_text(drawn, false));
    CHECK(contains(colored, ";48;5;"));
  }
}

TEST_CASE("a heat map in a terminal has a row a query, with the highest value darkest and the boundary in each row") {
  const std::string text = to_text(copying_map(), false);
  for (const char* part : {"weight: 0 [  ··::--==++**##%%@@] 1.0", "┆ memory | segment", "query", " 0 ┤", "14 ┤",
                           "key (tokens from the start of the segment)"}) {
    CAPTURE(part);
    CHECK(contains(text, part));
  }
  CHECK(count(text, "@") == 2 + 16);
  CHECK(count(text, "┆") == 1 + 16);
  std::istringstream lines(text);
  Index row = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t mark = line.find('@');
    if (mark == std::string::npos || contains(line, "[")) continue;
    const Index shift = row >= 23 ? 1 : 0;  // columns to the right of the boundary
    CHECK(columns(line.substr(0, mark)) == 4 + 9 + row + shift);
    ++row;
  }
  CHECK(row == 16);
}

}  // namespace segue::examples_heat_map_test
