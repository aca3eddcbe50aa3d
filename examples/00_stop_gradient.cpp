// The wall: the six nodes of first_gradient once more, with a stop-gradient between them.
//
// Values pass the wall and gradients do not. What stands behind it is let go as soon as nobody else holds it. Then the
// same wall in a tiny Transformer-XL, between a segment of text and the next.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "autograd/arithmetic.hpp"
#include "autograd/backward.hpp"
#include "autograd/stop_gradient.hpp"
#include "autograd/tools/graph.hpp"
#include "examples/support/graph_picture.hpp"
#include "examples/support/lesson.hpp"
#include "examples/support/output.hpp"
#include "nn/loss.hpp"
#include "tensor/elementwise.hpp"
#include "xl/model.hpp"
#include "xl/tools/gradient_flow.hpp"

using namespace segue;

namespace {

struct Settings {
  double x = 2, y = 3, step = 0.001;
  std::string wall = "q";
  Index seed = 1;
  std::string out = "out";
};

const std::string no_wall;

// The graph, kept alive by its last node. All that comes after the node `walled` uses it through a wall.
Variable six_nodes(const Settings& s, const std::string& walled) {
  const auto named = [&](const std::string& name, Variable node) {
    node.set_label(name);
    node.keep_gradient();
    return name == walled ? stop_gradient(node) : node;
  };
  const Variable x = parameter(Tensor::scalar(static_cast<Real>(s.x)), "x");
  const Variable y = parameter(Tensor::scalar(static_cast<Real>(s.y)), "y");
  const Variable p = named("p", x * y), q = named("q", p + x), r = named("r", q * y);
  return named("L", r - p);
}

// The same in plain numbers, where `nudged` is `h` more than its step gives; what has passed the wall stays as it was.
std::map<std::string, double> values(const Settings& s, const std::string& walled, const std::string& nudged = "",
                                     double h = 0) {
  const double held = walled == no_wall ? 0 : values(s, no_wall)[walled];
  const auto named = [&](const std::string& name, double value) {
    return name == walled ? held : name == nudged ? value + h : value;
  };
  const double x = named("x", s.x), y = named("y", s.y);
  const double p = named("p", x * y), q = named("q", p + x), r = named("r", q * y), L = named("L", r - p);
  return {{"x", x}, {"y", y}, {"p", p}, {"q", q}, {"r", r}, {"L", L}};
}

double by_differences(const Settings& s, const std::string& name) {
  return (values(s, s.wall, name, s.step)["L"] - values(s, s.wall, name, -s.step)["L"]) / (2 * s.step);
}

// A gradient by hand: the shares that the node's users hand out.
struct Sum {
  std::string name, rule;
  std::vector<double> shares;
  double total = 0;
};

std::vector<Sum> sums_by_hand(const Settings& s, const std::string& walled) {
  std::map<std::string, double> v = values(s, no_wall), d = {{"L", 1}};
  std::vector<Sum> sums;
  const auto add_up = [&](const std::string& name, const std::string& rule, std::vector<double> shares) {
    Sum sum = {name, rule, std::move(shares)};
    for (double& share : sum.shares) sum.total += share = name == walled ? 0 : share;  // nothing comes through the wall
    d[name] = sum.total;
    sums.push_back(sum);
  };
  add_up("r", "dL", {d["L"]});
  add_up("q", "dr y", {d["r"] * v["y"]});
  add_up("p", "-dL + dq", {-d["L"], d["q"]});
  add_up("y", "dr q + dp x", {d["r"] * v["q"], d["p"] * v["x"]});
  add_up("x", "dq + dp y", {d["q"], d["p"] * v["y"]});
  return sums;
}

// "8 + 4 = 12". Adding 0 makes a 0 of -0.
std::string text_of(const Sum& sum) {
  std::string text;
  for (const double share : sum.shares) {
    text += (text.empty() ? ""
             : share < 0  ? " - "
                          : " + ") +
            fmt::format("{:.6g}", text.empty() ? share + 0.0 : std::abs(share));
  }
  return sum.shares.size() == 1 ? text : fmt::format("{} = {:.6g}", text, sum.total);
}

// The gradients that backward has left in a graph that was kept.
std::map<std::string, double> gradients_in(const Variable& L) {
  std::map<std::string, double> gradients;
  for (const std::shared_ptr<Node>& node : topological_order(L)) {
    if (node->has_gradient) gradients[node->label] = static_cast<double>(node->gradient.item());
  }
  return gradients;
}

// Builds the graph, walks it back and prints it, with how many nodes were made and how many of them are alive when only
// the last is held.
Variable show_graph(const Settings& s, const std::string& walled) {
  const std::int64_t before = live_node_count();
  const std::uint64_t id_before = Variable().node().id;
  const Variable L = six_nodes(s, walled);
  const auto made = static_cast<std::int64_t>(L.node().id - id_before), alive = live_node_count() - before;
  fmt::print("{} the wall: L = {:.6g}, {} nodes made, {} alive.", walled == no_wall ? "Without" : "With", L.item(),
             made, alive);
  if (walled != no_wall) fmt::print(" Freed: {0} and what only {0} held.", walled);
  backward(L, Graph::keep);
  fmt::print("\n{}\n", graph_as_tree(L));
  return L;
}

void compare_gradients(const Settings& s, const Variable& without, const Variable& with) {
  const std::vector<Sum> hand_without = sums_by_hand(s, no_wall), hand_with = sums_by_hand(s, s.wall);
  std::map<std::string, double> before = gradients_in(without), after = gradients_in(with);
  std::map<std::string, double> v = values(s, no_wall);
  Table table({"node", "value", "gradient_without", "gradient_with", "by_hand_with", "by_differences_with"});
  std::map<std::string, std::string> inputs = {{"p", "x and y"}, {"q", "p and x"}, {"r", "q and y"}};
  fmt::print(
      "A gradient is the sum of what the users of its node hand out. None comes through the wall at {0}, so {0}\n"
      "has none to hand on to {1}. Their gradients change, and with them what they hand on:\n"
      "                     by hand, without   by hand, with      backward   by differences\n",
      s.wall, inputs[s.wall]);
  for (std::size_t k = 0; k < hand_with.size(); ++k) {
    const Sum &old = hand_without[k], &now = hand_with[k];
    const std::string name = now.name;
    const bool reached = after.count(name) > 0;
    fmt::print("  d{} = {:<13} {:<18} {:<18} {:>8} {:>16.6f}\n", name, now.rule, text_of(old), text_of(now),
               reached ? fmt::format("{:.6g}", after[name]) : "none", by_differences(s, name));
    table.add_row({name, v[name], before[name], reached ? after[name] : 0, now.total, by_differences(s, name)});
  }
  write_csv(s.out + "/stop_gradient.csv", table);
}

// ---- The same wall between two segments of a Transformer-XL ---------------------------------------------------------

struct TwoSegments {
  double loss = 0;             // of the second segment, mean over its tokens, in nats
  std::int64_t nodes = 0;      // that the memory keeps alive after the first
  std::vector<double> norms;   // of the gradient of that loss by what each layer remembers
  std::vector<double> slopes;  // the same by differences, along the gradient; 0 where there is none
};

Config tiny_config(bool stop) {
  Config config;
  config.vocabulary = 5, config.width = 8, config.head_width = 4, config.feed_forward_width = 16;
  config.segment_length = config.memory_length = 3;
  config.stop_memory_gradient = stop;
  return config;
}

Variable second_loss(const TransformerXL& model, const Memory& memory) {
  const Tokens tokens(Shape{1, 3}, {3, 4, 0}), targets(Shape{1, 3}, {4, 0, 1});
  return mean_cross_entropy(model(tokens, memory, Mode::evaluate()).logits, targets).loss;
}

// How fast the loss grows when layer n remembers states a little further along `direction`.
double slope_along(const TransformerXL& model, const Memory& memory, std::size_t n, const Tensor& direction) {
  const auto loss_at = [&](Real h) {
    Memory moved = memory;
    moved.layers[n] = Variable(add(memory.layers[n].value(), scale(direction, h)));
    return static_cast<double>(second_loss(model, moved).item());
  };
  constexpr Real h = Real(0.005);  // large enough for the rounding of float
  return (loss_at(h) - loss_at(-h)) / (2 * static_cast<double>(h));
}

TwoSegments read_two_segments(const Settings& s, bool stop) {
  Random random(static_cast<std::uint64_t>(s.seed));
  const TransformerXL model(tiny_config(stop), random);
  TwoSegments result;
  const Memory empty = empty_memory(model.config, 1, 3);
  const std::int64_t before = live_node_count();
  Memory memory = model(Tokens(Shape{1, 3}, {0, 1, 2}), empty, Mode::evaluate()).memory;
  result.nodes = live_node_count() - before;
  for (Variable& states : memory.layers) states.keep_gradient();
  const Variable loss = second_loss(model, memory);
  result.loss = static_cast<double>(loss.item());
  backward(loss);
  for (std::size_t n = 0; n < memory.layers.size(); ++n) {
    const Variable& states = memory.layers[n];
    const double norm = gradient_norms({{"", states}})[0].norm;
    result.norms.push_back(norm);
    result.slopes.push_back(
        norm == 0 ? 0 : slope_along(model, memory, n, scale(states.gradient(), static_cast<Real>(1 / norm))));
  }
  return result;
}

void show_transformer(const Settings& s) {
  const TwoSegments with = read_two_segments(s, true), without = read_two_segments(s, false);
  fmt::print(
      "\nThe same wall in a Transformer-XL of two layers that reads two segments of three tokens:\n"
      "                                               with the wall   without   by differences\n"
      "  loss of the second segment, in nats             {:>10.6f} {:>9.6f}\n",
      with.loss, without.loss);
  Table table({"layer", "gradient_with", "gradient_without", "by_differences"});
  for (std::size_t n = 0; n < with.norms.size(); ++n) {
    fmt::print("  its gradient by what layer {} remembers, norm    {:>10.6g} {:>9.4f} {:>16.4f}\n", n + 1,
               with.norms[n], without.norms[n], without.slopes[n]);
    table.add_row({static_cast<Index>(n + 1), with.norms[n], without.norms[n], without.slopes[n]});
  }
  fmt::print("  nodes that the memory keeps alive               {:>10} {:>9}\n", with.nodes, without.nodes);
  fmt::print(
      "The loss hangs on the memory: the differences tell how fast it grows when the remembered states are moved\n"
      "along the gradient. With the wall it is used all the same, but nothing goes back to what made it.\n");
  write_csv(s.out + "/stop_gradient_memory.csv", table);
}

void tell(const Settings& s) {
  check_choice("wall", s.wall, {"p", "q", "r"});
  make_folder(s.out);
  fmt::print("p = x y, q = p + x, r = q y, L = r - p. What uses {0} gets stop_gradient({0}) in its place.\n\n", s.wall);
  const Variable without = show_graph(s, no_wall), with = show_graph(s, s.wall);
  compare_gradients(s, without, with);
  show_transformer(s);
  write_text_file(s.out + "/stop_gradient.dot", graph_as_dot(with));
  write_graph_svg(
      s.out + "/stop_gradient.svg", with, fmt::format("Six nodes, and a wall at {}", s.wall),
      fmt::format("The graph of L = (x y + x) y - x y with a stop-gradient at {}, which ends there.", s.wall));
  fmt::print(
      "\nThe picture is in {0}/stop_gradient.svg, for Graphviz in {0}/stop_gradient.dot, and the numbers are in\n"
      "{0}/stop_gradient.csv and {0}/stop_gradient_memory.csv.\n",
      s.out);
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  Arguments arguments("stop_gradient",
                      "Puts a wall into the six nodes of first_gradient and between two segments of a Transformer-XL, "
                      "and shows which gradients end there.");
  arguments.add("x", s.x, "value of the parameter x", -100, 100);
  arguments.add("y", s.y, "value of the parameter y", -100, 100);
  arguments.add("wall", s.wall, "the node behind the wall: p, q or r");
  arguments.add("step", s.step, "how far a node is moved to either side for the differences", 1e-9, 1);
  arguments.add("seed", s.seed, "seed of the model's weights", 0);
  arguments.add("out", s.out, "folder for the picture and the numbers");
  return run_lesson(arguments, argc, argv, [&] { tell(s); });
}
