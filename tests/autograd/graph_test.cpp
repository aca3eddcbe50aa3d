#include "autograd/tools/graph.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "autograd/backward.hpp"
#include "autograd/tools/functions.hpp"
#include "tests/support/random_inputs.hpp"

namespace segue::autograd_graph_test {

namespace {

// Every line opened is closed, braces and brackets outside strings balance, quotes come in pairs.
bool well_formed(const std::string& dot) {
  int braces = 0, brackets = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < dot.size(); ++i) {
    if (quoted && dot[i] == '\\') {
      ++i;
    } else if (dot[i] == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      braces += (dot[i] == '{') - (dot[i] == '}');
      brackets += (dot[i] == '[') - (dot[i] == ']');
    } else if (dot[i] == '\n') {
      return false;
    }
    if (braces < 0 || brackets < 0) return false;
  }
  return !quoted && braces == 0 && brackets == 0;
}

std::ptrdiff_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

}  // namespace

TEST_CASE("The tree shows op, label, shape, and a node met again by its number") {
  const Variable x = parameter(Tensor::zeros({2, 3}), "x");
  const Variable y = exp(x);
  Variable z = sum(y * y);
  z.set_label("loss");
  CHECK(graph_as_tree(z) ==
        "#1 sum 'loss' [] = 6\n"
        "  #2 mul [2, 3]\n"
        "    #3 exp [2, 3]\n"
        "      #4 parameter 'x' [2, 3]\n"
        "    #3 again\n");
}

TEST_CASE("Tree and DOT show the gradient of a single number where a backward has left one") {
  const Variable x = parameter(Tensor::scalar(3), "x"), y = x * x;
  backward(y, Graph::keep);
  CHECK(graph_as_tree(y) ==
        "#1 mul [] = 9\n"
        "  #2 parameter 'x' [] = 3, gradient 6\n"
        "  #2 again\n");
  CHECK(holds(graph_as_dot(y), "[label=\"parameter 'x' [] = 3, gradient 6\""));
}

TEST_CASE("Tree and DOT of a large graph are cut off at the number of lines or nodes asked for") {
  Variable z = parameter(Tensor::scalar(1));
  for (int i = 0; i < 1000; ++i) z = z + z;
  const std::string tree = graph_as_tree(z, 10);
  CHECK(lines(tree) <= 11);
  CHECK(holds(tree, "..."));
  const std::string dot = graph_as_dot(z, 10);
  CHECK(well_formed(dot));
  CHECK(lines(dot) < 40);
  CHECK(lines(graph_as_tree(z)) <= 201);
}

TEST_CASE("DOT has every node and every edge once, and is well formed whatever the labels") {
  const Variable x = parameter(Tensor::zeros({2}), "a \"quoted\" \\ label\nof two lines } ]");
  const Variable y = exp(x), z = y * x;
  const std::string dot = graph_as_dot(z);
  CHECK(well_formed(dot));
  CHECK(holds(dot, "a \\\"quoted\\\" \\\\ label of two lines"));
  const auto edge = [](const Variable& from, const Variable& to) {
    return "n" + std::to_string(from.node().id) + " -> n" + std::to_string(to.node().id) + ";";
  };
  CHECK(holds(dot, edge(x, y)));
  CHECK(holds(dot, edge(y, z)));
  CHECK(holds(dot, edge(x, z)));
  CHECK(lines(dot) == 3 + 3 + 3 + 1);  // head, nodes, edges, closing brace
}

TEST_CASE("The size of a graph counts each node once, and 1 after backward") {
  const Variable x = parameter(Tensor::scalar(2));
  const Variable y = x * x, z = y + y;
  CHECK(graph_size(x) == 1);
  CHECK(graph_size(z) == 3);
  backward(z);
  CHECK(graph_size(z) == 1);
}

}  // namespace segue::autograd_graph_test
