// The first gradient: a graph of six nodes, small enough to check every number by hand.
//
// L = (x y + x) y - x y is computed in four small steps. The graph that this leaves behind is printed and drawn, and
// each gradient is found three times: by backward, by the rules written out in numbers, and by moving the node a little
// and looking at what L does, which needs to know nothing of rules.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "autograd/arithmetic.hpp"
#include "autograd/backward.hpp"
#include "autograd/tools/graph.hpp"
#include "examples/support/graph_picture.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"

using namespace segue;

namespace {

struct Settings {
  double x = 2, y = 3, step = 0.001;
  std::string out = "out";
};

const std::array<std::string, 6> names = {"x", "y", "p", "q", "r", "L"};

// The graph, kept alive by its last node.
Variable six_nodes(const Settings& s) {
  const Variable x = parameter(Tensor::scalar(static_cast<Real>(s.x)), "x");
  const Variable y = parameter(Tensor::scalar(static_cast<Real>(s.y)), "y");
  Variable p = x * y, q = p + x, r = q * y, L = r - p;
  p.set_label("p"), q.set_label("q"), r.set_label("r"), L.set_label("L");
  for (Variable inner : {p, q, r, L}) inner.keep_gradient();
  return L;
}

// The same in plain numbers, where `nudged` is `h` more than its step gives; all behind it follows.
std::map<std::string, double> values(const Settings& s, const std::string& nudged = "", double h = 0) {
  const auto nudge = [&](const std::string& name, double value) { return name == nudged ? value + h : value; };
  const double x = nudge("x", s.x), y = nudge("y", s.y);
  const double p = nudge("p", x * y), q = nudge("q", p + x), r = nudge("r", q * y), L = nudge("L", r - p);
  return {{"x", x}, {"y", y}, {"p", p}, {"q", q}, {"r", r}, {"L", L}};
}

double by_differences(const Settings& s, const std::string& name) {
  return (values(s, name, s.step)["L"] - values(s, name, -s.step)["L"]) / (2 * s.step);
}

// What a node hands to one of its inputs.
struct Share {
  std::string from, step, to, rule, numbers;
  double amount;
};

std::string factor(double number) {
  const std::string text = fmt::format("{:.6g}", number);
  return number < 0 ? "(" + text + ")" : text;
}

// Node by node from the end, so that each gradient is complete before it is handed on.
std::vector<Share> shares_by_hand(const Settings& s) {
  std::map<std::string, double> v = values(s);
  const auto times = [](double a, double b) { return factor(a) + " * " + factor(b); };
  const double dL = 1, dr = dL, dq = dr * v["y"], dp = -dL + dq;
  return {{"L", "r - p", "r", "dL", "", dL},
          {"L", "r - p", "p", "-dL", "", -dL},
          {"r", "q y", "q", "dr y", times(dr, v["y"]), dr * v["y"]},
          {"r", "q y", "y", "dr q", times(dr, v["q"]), dr * v["q"]},
          {"q", "p + x", "p", "dq", "", dq},
          {"q", "p + x", "x", "dq", "", dq},
          {"p", "x y", "x", "dp y", times(dp, v["y"]), dp * v["y"]},
          {"p", "x y", "y", "dp x", times(dp, v["x"]), dp * v["x"]}};
}

// Prints the shares and what they add up to; returns the sums.
std::map<std::string, double> gradients_by_hand(const std::vector<Share>& shares) {
  std::map<std::string, double> sums = {{"L", 1}};
  std::map<std::string, std::string> terms;
  fmt::print("By hand, from the end; dp is short for the derivative of L by p, and dL = 1:\n");
  std::string last;
  for (const Share& share : shares) {
    const bool first = terms[share.to].empty();
    terms[share.to] += fmt::format("{}{:.6g}",
                                   first              ? ""
                                   : share.amount < 0 ? " - "
                                                      : " + ",
                                   first ? share.amount : std::abs(share.amount));
    sums[share.to] += share.amount;
    const std::string step = share.from == last ? "" : share.from + " = " + share.step;
    const std::string numbers = share.numbers.empty() ? "" : " = " + share.numbers;
    const std::string sum = fmt::format("d{} = {}", share.to, terms[share.to]);
    fmt::print("  {:<9}  gives {}: {:<23}  {}{}\n", step, share.to,
               fmt::format("{}{} = {:.6g}", share.rule, numbers, share.amount), sum,
               first ? "" : fmt::format(" = {:.6g}", sums[share.to]));
    last = share.from;
  }
  return sums;
}

void tell(const Settings& s) {
  make_folder(s.out);
  const Variable L = six_nodes(s);
  backward(L, Graph::keep);  // kept to be looked at: else only the parameters would be left, with their gradients
  fmt::print(
      "p = x y, q = p + x, r = q y, L = r - p, computed and walked back. The result stands first, inputs below\n"
      "their user; \"again\" is a node that has been shown before:\n\n{}\n",
      graph_as_tree(L));
  std::map<std::string, double> by_hand = gradients_by_hand(shares_by_hand(s));

  std::map<std::string, const Node*> nodes;
  const Nodes order = topological_order(L);
  for (const std::shared_ptr<Node>& node : order) nodes[node->label] = node.get();
  Table table({"node", "value", "gradient", "by_hand", "by_differences"});
  double worst = 0;
  fmt::print("\nEach gradient three times:\n  node      value   backward    by hand    by differences\n");
  for (const std::string& name : names) {
    const Real value = nodes[name]->value.item(), gradient = nodes[name]->gradient.item();
    const double difference = by_differences(s, name);
    fmt::print("  {:<4} {:>10.6g} {:>10.6g} {:>10.6g} {:>17.6f}\n", name, value, gradient, by_hand[name], difference);
    table.add_row({name, value, gradient, by_hand[name], difference});
    for (const double other : {by_hand[name], difference}) {
      worst = std::max(worst, std::abs(static_cast<double>(gradient) - other) / std::max(1.0, std::abs(other)));
    }
  }
  fmt::print(
      "\nThe largest relative difference is {:.1e}. School algebra: L = x y^2, so dx = y^2 = {:.6g} and\n"
      "dy = 2 x y = {:.6g}.\n",
      worst, s.y * s.y, 2 * s.x * s.y);
  write_csv(s.out + "/first_gradient.csv", table);
  write_text_file(s.out + "/first_gradient.dot", graph_as_dot(L));
  write_graph_svg(s.out + "/first_gradient.svg", L, "Six nodes and their gradients",
                  "The graph of L = (x y + x) y - x y, with the value and the gradient of each node.");
  fmt::print(
      "\nThe picture is in {0}/first_gradient.svg, for Graphviz in {0}/first_gradient.dot, and the numbers are\n"
      "in {0}/first_gradient.csv.\n",
      s.out);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("first_gradient",
                      "Prints, draws and checks by hand a graph of six nodes: L = (x y + x) y - x y, in small steps.");
  arguments.add("x", s.x, "value of the parameter x", -100, 100);
  arguments.add("y", s.y, "value of the parameter y", -100, 100);
  arguments.add("step", s.step, "how far a node is moved to either side for the differences", 1e-9, 1);
  arguments.add("out", s.out, "folder for the picture and the numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
