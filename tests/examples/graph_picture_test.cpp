#include "examples/support/graph_picture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <regex>
#include <vector>

#include "autograd/arithmetic.hpp"
#include "autograd/backward.hpp"
#include "autograd/reductions.hpp"
#include "autograd/stop_gradient.hpp"
#include "autograd/tools/functions.hpp"
#include "tests/support/svg.hpp"

namespace segue::examples_graph_picture_test {

namespace {

Variable named(Variable x, const std::string& label) {
  x.set_label(label);
  x.keep_gradient();
  return x;
}

Variable six_nodes() {
  const Variable x = parameter(Tensor::scalar(2), "x"), y = parameter(Tensor::scalar(3), "y");
  const Variable p = named(x * y, "p"), q = named(p + x, "q"), r = named(q * y, "r");
  return named(r - p, "L");
}

std::string picture(const Variable& z) { return graph_as_svg(z, "title", "description"); }

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Box {
  double left, top, width, height;
};

// The boxes of the nodes, which are those with round corners.
std::vector<Box> boxes(const std::string& svg) {
  static const std::regex box("<rect x=\"([-.0-9]+)\" y=\"([-.0-9]+)\" width=\"([.0-9]+)\" height=\"([.0-9]+)\" rx");
  std::vector<Box> all;
  for (std::sregex_iterator match(svg.begin(), svg.end(), box), end; match != end; ++match) {
    all.push_back({std::stod((*match)[1]), std::stod((*match)[2]), std::stod((*match)[3]), std::stod((*match)[4])});
  }
  return all;
}

// Boxes lie inside the picture and none touches another.
bool well_laid_out(const std::string& svg) {
  std::smatch size;
  std::regex_search(svg, size, std::regex("viewBox=\"0 0 ([0-9]+) ([0-9]+)\""));
  const std::vector<Box> all = boxes(svg);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Box& a = all[i];
    if (a.left < 0 || a.top < 0 || a.left + a.width > std::stod(size[1]) || a.top + a.height > std::stod(size[2]))
      return false;
    for (std::size_t k = 0; k < i; ++k) {
      const Box& b = all[k];
      const bool apart = a.left + a.width < b.left || b.left + b.width < a.left || a.top + a.height < b.top ||
                         b.top + b.height < a.top;
      if (!apart) return false;
    }
  }
  return true;
}

constexpr const char* arrow_head = "l-9 -4v8z";
constexpr const char* brick_wall = "fill=\"#bb5566\"";

}  // namespace

TEST_CASE("a picture of a graph has a box for each node, an arrow for each use, values and gradients") {
  const Variable L = six_nodes();
  CHECK_FALSE(has(picture(L), "gradient 9"));
  backward(L, Graph::keep);
  const std::string svg = picture(L);
  CHECK(boxes(svg).size() == 6);
  CHECK(count(svg, arrow_head) == 8);
  CHECK(count(svg, brick_wall) == 0);
  for (const char* text : {"L = sub(r, p)", "q = add(p, x)", "x, parameter", "value 24", "gradient 12", "gradient 9",
                           "<title id=\"title\">title</title>", "<desc id=\"desc\">description</desc>"})
    CHECK(has(svg, text));
  CHECK(well_laid_out(svg));
}

TEST_CASE("what is used stands left of what uses it") {
  const std::vector<Box> all = boxes(picture(six_nodes()));  // in the order of their making
  REQUIRE(all.size() == 6);
  for (const auto& [from, to] : {std::pair{0, 2}, {1, 2}, {2, 3}, {0, 3}, {3, 4}, {1, 4}, {4, 5}, {2, 5}}) {
    const Box &input = all[static_cast<std::size_t>(from)], &user = all[static_cast<std::size_t>(to)];
    CHECK(input.left + input.width < user.left);
  }
}

TEST_CASE("a stop-gradient is a wall, with a dashed line from what it cut where that is drawn too") {
  const Variable x = parameter(Tensor::scalar(3), "x"), y = named(x * x, "y");
  const Variable behind = stop_gradient(y) * x;
  backward(behind, Graph::keep);
  const std::string alone = picture(behind);
  CHECK(count(alone, brick_wall) == 1);
  CHECK(boxes(alone).size() == 3);
  CHECK(count(alone, "stroke-dasharray") == 2);  // the box, and the line from a name
  CHECK(has(alone, "not part of this graph"));
  CHECK(has(alone, "stop_gradient of y"));
  CHECK(has(alone, "mul(SG(y), x)"));
  CHECK(has(alone, "no gradient"));
  const std::string both = picture(y + stop_gradient(y) * x);
  CHECK(count(both, "stroke-dasharray") == 2);
  CHECK_FALSE(has(both, "not part of this graph"));
  CHECK(count(both, brick_wall) == 1);
  CHECK(well_laid_out(both));
}

TEST_CASE("text in a picture of a graph is escaped, tensors show their shape, any number can be drawn") {
  const Variable x = parameter(Tensor::zeros({2, 3}), "a < b & \"c\"\n");
  const std::string svg = graph_as_svg(sum(exp(x)), "<title>", "1 & 2");
  CHECK(has(svg, "a &lt; b &amp; &quot;c&quot; , parameter"));
  CHECK(has(svg, "shape [2, 3]"));
  CHECK(has(svg, "&lt;title&gt;"));
  CHECK(has(svg, "1 &amp; 2"));
  const Real inf = std::numeric_limits<Real>::infinity();
  CHECK(has(picture(Variable(Tensor::scalar(inf))), "value inf"));
  CHECK(has(picture(Variable(Tensor::scalar(inf - inf))), "nan"));
  CHECK(has(picture(Variable()), "shape [0]"));
}

TEST_CASE("graphs of many shapes are laid out without boxes that touch, and too large ones are an error") {
  Variable chain = parameter(Tensor::scalar(1), "x"), fan = chain;
  std::vector<Variable> row;
  for (int i = 0; i < 10; ++i) row.push_back(exp(chain));
  for (const Variable& one : row) fan = fan + one;
  CHECK(well_laid_out(picture(fan)));
  for (int i = 0; i < 63; ++i) chain = chain * chain;
  CHECK(boxes(picture(chain)).size() == 64);
  CHECK(well_laid_out(picture(chain)));
  CHECK_THROWS_AS(picture(exp(chain)), ValueError);
}

}  // namespace segue::examples_graph_picture_test
