// Laid out in columns: a node stands one to the right of its last input. A line that skips columns goes through a
// point in each of them, which takes part in the layout like a box, so that no line runs through a box.
#include "examples/support/graph_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>

#include "examples/support/output.hpp"
#include "examples/support/svg.hpp"

namespace segue {
namespace {

constexpr std::size_t most_drawn = 64;
constexpr double box_height = 66, row_gap = 22, column_gap = 62, wall_width = 9;

// A box, a point on a line that skips this column, or what a wall cut off when that is not part of the graph.
struct Place {
  const Node* node = nullptr;    // of a box
  const Node* beyond = nullptr;  // of what was cut off: the wall
  std::size_t column = 0;
  double y = 0;                         // of its middle
  std::vector<std::size_t> neighbours;  // places in the columns beside it
  double height() const { return node != nullptr ? box_height : beyond != nullptr ? box_height / 2 : 12; }
};

// From the box of an input, through points, to the box of its user; `cut`: from what a stop-gradient cut off.
struct Line {
  std::vector<std::size_t> places;
  bool cut = false;
};

struct Drawing {
  std::vector<Place> places;
  std::vector<Line> lines;
  std::vector<std::vector<std::size_t>> columns;  // places from top to bottom
};

// All nodes that z holds, in the order of their making: inputs before their users.
std::vector<const Node*> nodes_of(const Variable& z, Where where) {
  std::vector<const Node*> nodes = {&z.node()};
  std::unordered_set<const Node*> seen = {&z.node()};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::shared_ptr<Node>& input : nodes[i]->inputs) {
      if (seen.insert(input.get()).second) nodes.push_back(input.get());
    }
    if (nodes.size() > most_drawn) {
      throw ValueError(located(
          fmt::format("graph_as_svg: expected a graph of at most {} nodes, this one has more", most_drawn), where));
    }
  }
  std::sort(nodes.begin(), nodes.end(), [](const Node* a, const Node* b) { return a->id < b->id; });
  return nodes;
}

std::size_t add_place(Drawing& drawing, const Node* node, std::size_t column) {
  drawing.places.push_back({node, nullptr, column, 0, {}});
  if (drawing.columns.size() <= column) drawing.columns.resize(column + 1);
  drawing.columns[column].push_back(drawing.places.size() - 1);
  return drawing.places.size() - 1;
}

void add_line(Drawing& drawing, std::size_t from, std::size_t to, bool cut) {
  Line line{{from}, cut};
  for (std::size_t column = drawing.places[from].column + 1; column < drawing.places[to].column; ++column) {
    line.places.push_back(add_place(drawing, nullptr, column));
  }
  line.places.push_back(to);
  for (std::size_t i = 0; i + 1 < line.places.size(); ++i) {
    drawing.places[line.places[i]].neighbours.push_back(line.places[i + 1]);
    drawing.places[line.places[i + 1]].neighbours.push_back(line.places[i]);
  }
  drawing.lines.push_back(line);
}

// One to the right of the last input, and of what was cut off. A wall with nothing else drawn behind it stands right
// before its first user.
std::map<const Node*, std::size_t> columns_of(const std::vector<const Node*>& nodes) {
  std::map<const Node*, std::size_t> column, first_user;
  std::map<std::uint64_t, std::size_t> column_by_id;
  for (const Node* node : nodes) {
    std::size_t c = column_by_id.count(node->cut) > 0 ? column_by_id[node->cut] + 1 : node->cut != 0 ? 1 : 0;
    for (const std::shared_ptr<Node>& input : node->inputs) c = std::max(c, column[input.get()] + 1);
    column[node] = column_by_id[node->id] = c;
    for (const std::shared_ptr<Node>& input : node->inputs) {
      std::size_t& first = first_user.try_emplace(input.get(), c).first->second;
      first = std::min(first, c);
    }
  }
  for (const Node* node : nodes) {
    const bool alone = node->cut != 0 && column_by_id.count(node->cut) == 0;
    if (alone && first_user.count(node) > 0) column[node] = first_user[node] - 1;
  }
  return column;
}

Drawing places_and_lines(const std::vector<const Node*>& nodes) {
  std::map<const Node*, std::size_t> column = columns_of(nodes), place;
  std::map<std::uint64_t, std::size_t> by_id;
  Drawing drawing;
  for (const Node* node : nodes) by_id[node->id] = place[node] = add_place(drawing, node, column[node]);
  for (const Node* node : nodes) {
    for (const std::shared_ptr<Node>& input : node->inputs) add_line(drawing, place[input.get()], place[node], false);
    if (node->cut == 0) continue;
    if (by_id.count(node->cut) == 0) {
      by_id[node->cut] = add_place(drawing, nullptr, column[node] - 1);
      drawing.places.back().beyond = node;
    }
    add_line(drawing, by_id[node->cut], place[node], true);
  }
  return drawing;
}

double mean_of_neighbours(const Drawing& drawing, const Place& place) {
  if (place.neighbours.empty()) return place.y;
  double sum = 0;
  for (const std::size_t n : place.neighbours) sum += drawing.places[n].y;
  return sum / static_cast<double>(place.neighbours.size());
}

// Moves each place of a column to the middle of its neighbours, then apart where they would touch; the column as a
// whole stays where its places want to be.
void settle(Drawing& drawing, std::vector<std::size_t>& column, bool reorder) {
  std::vector<double> wanted(drawing.places.size());
  for (const std::size_t p : column) wanted[p] = mean_of_neighbours(drawing, drawing.places[p]);
  if (reorder) {
    const auto key = [&](std::size_t p) { return std::tuple(wanted[p], drawing.places[p].y, p); };
    std::sort(column.begin(), column.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  }
  double moved = 0, free = -1e9;
  for (const std::size_t p : column) {
    Place& place = drawing.places[p];
    place.y = std::max(wanted[p], free + place.height() / 2);
    free = place.y + place.height() / 2 + row_gap;
    moved += place.y - wanted[p];
  }
  for (const std::size_t p : column) drawing.places[p].y -= moved / static_cast<double>(column.size());
}

void lay_out_rows(Drawing& drawing) {
  for (std::vector<std::size_t>& column : drawing.columns) {
    for (std::size_t i = 0; i < column.size(); ++i) drawing.places[column[i]].y = box_height * static_cast<double>(i);
  }
  for (int sweep = 0; sweep < 24; ++sweep) {
    const bool reorder = sweep < 12;  // first who stands above whom, then only distances
    for (std::vector<std::size_t>& column : drawing.columns) settle(drawing, column, reorder);
    for (auto column = drawing.columns.rbegin(); column != drawing.columns.rend(); ++column) {
      settle(drawing, *column, reorder);
    }
  }
}

// "p", "SG(q)"; a node without a label goes by its op.
std::string name_of(const Node& node) {
  if (node.cut != 0) return "SG(" + node.label + ")";
  return node.label.empty() ? node.op : node.label;
}

// "L = sub(r, p)".
std::string made_as(const Node& node) {
  if (node.cut != 0) return "stop_gradient of " + node.label;
  if (node.inputs.empty()) return (node.label.empty() ? "" : node.label + ", ") + node.op;
  std::string text = (node.label.empty() ? "" : node.label + " = ") + node.op + "(";
  for (const std::shared_ptr<Node>& input : node.inputs)
    text += (&input == node.inputs.begin() ? "" : ", ") + name_of(*input);
  return text + ")";
}

std::string number_or_shape(const Tensor& x) {
  if (x.size() == 1) return fmt::format("{:.4g}", x.item());
  std::string text;
  for (int axis = 0; axis < x.rank(); ++axis) text += fmt::format("{}{}", axis == 0 ? "" : ", ", x.dim(axis));
  return "[" + text + "]";
}

std::string gradient_text(const Node& node) {
  if (node.has_gradient) return "gradient " + number_or_shape(node.gradient);
  return node.needs_gradient ? "" : "no gradient";
}

class GraphCanvas {
 public:
  GraphCanvas(const Drawing& drawing, double header) : drawing_(drawing) {
    double top = 1e9, bottom = -1e9;
    for (const Place& place : drawing.places) {
      if (place.node != nullptr) box_width = std::max(box_width, text_width(made_as(*place.node)) + 28);
      top = std::min(top, place.y - place.height() / 2);
      bottom = std::max(bottom, place.y + place.height() / 2);
    }
    shift = header - top;
    height = bottom + shift + svg_margin;
    const auto n = static_cast<double>(drawing.columns.size());
    width = 2 * svg_margin + n * box_width + (n - 1) * column_gap;
  }
  double left(const Place& p) const { return svg_margin + static_cast<double>(p.column) * (box_width + column_gap); }
  double y(const Place& p) const { return p.y + shift; }

  void box(const Place& place) {
    const Node& node = *place.node;
    const double x0 = left(place), y0 = y(place) - box_height / 2;
    const bool wall = node.cut != 0;
    const char* const style = wall                  ? "fill=\"#f4f4f4\" stroke=\"#222\" stroke-dasharray=\"5 4\""
                              : node.inputs.empty() ? "fill=\"#eef3f9\" stroke=\"#004488\""
                                                    : "fill=\"#fff\" stroke=\"#444\"";
    svg.add("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{}\" stroke-width=\"1.4\" {}/>",
            x0, y0, box_width, box_height, node.inputs.empty() && !wall ? 14 : 3, style);
    if (wall) draw_wall(x0, y0);
    const double x_text = x0 + 13;
    text(x_text, y0 + 20, made_as(node), "font-weight=\"bold\"");
    text(x_text, y0 + 39, (node.value.size() == 1 ? "value " : "shape ") + number_or_shape(node.value), "");
    text(x_text, y0 + 57, gradient_text(node), node.has_gradient ? "fill=\"#aa2244\"" : "fill=\"#555\"");
  }

  // What was cut off is not there to be drawn; its name is.
  void absent(const Place& place) {
    const double x_end = left(place) + box_width - 8;
    const char* const style = "text-anchor=\"end\" fill=\"#555\" font-style=\"italic\"";
    text(x_end, y(place) - 3, place.beyond->label, style);
    text(x_end, y(place) + 14, "not part of this graph", style);
  }

  void line(const Line& route) {
    const Place &from = drawing_.places[route.places.front()], &to = drawing_.places[route.places.back()];
    const double tip = route.cut ? wall_width + 1 : 7;  // an arrow's head, or the wall
    double x = left(from) + box_width, y_now = port(from, route, true);
    std::string path = fmt::format("M{:.1f} {:.1f}", x, y_now);
    for (std::size_t i = 1; i < route.places.size(); ++i) {
      const Place& next = drawing_.places[route.places[i]];
      const bool last = i + 1 == route.places.size();
      const double x_next = left(next) - (last ? tip : 0), y_next = last ? port(to, route, false) : y(next);
      const double middle = (x + x_next) / 2;
      path += fmt::format("C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", middle, y_now, middle, y_next, x_next, y_next);
      if (!last) path += fmt::format("h{:.1f}", box_width);
      x = x_next + (last ? 0 : box_width), y_now = y_next;
    }
    svg.add("<path d=\"{}\" fill=\"none\" stroke=\"#444\" stroke-width=\"1.4\"{}/>", path,
            route.cut ? " stroke-dasharray=\"5 4\"" : "");
    if (!route.cut) svg.add("<path d=\"M{:.1f} {:.1f}l-9 -4v8z\" fill=\"#444\"/>", left(to) - 0.5, y_now);
  }

  void text(double x_text, double y_text, const std::string& content, const char* style) {
    if (content.empty()) return;
    svg.add("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>", x_text, y_text, style, escape(content));
  }

  // A wall of bricks on the left side of a box, higher than the box; what comes from there ends at it.
  void draw_wall(double x, double y0) {
    const double x0 = x - wall_width, top = y0 - 8, high = box_height + 16;
    svg.add("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#bb5566\" stroke=\"#222\"/>", x0,
            top, wall_width, high);
    for (double row = 8; row < high; row += 8) {
      svg.add("<path d=\"M{:.1f} {:.1f}h{:.1f}\" stroke=\"#222\" stroke-width=\"0.8\"/>", x0, top + row, wall_width);
    }
  }

  Svg svg;
  double box_width = 150, width = 0, height = 0, shift = 0;

 private:
  // Where a line touches a box: lines that share a side are spread over it, in the order of where they go.
  double port(const Place& place, const Line& route, bool leaving) const {
    const auto touches = [&](const Line& l) {
      return &drawing_.places[leaving ? l.places.front() : l.places.back()] == &place;
    };
    const auto goes_to = [&](const Line& l) {
      return drawing_.places[leaving ? l.places[1] : *(l.places.end() - 2)].y;
    };
    double above = 0, count = 0;
    for (const Line& other : drawing_.lines) {
      if (!touches(other)) continue;
      ++count;
      if (goes_to(other) < goes_to(route) || (goes_to(other) == goes_to(route) && &other < &route)) ++above;
    }
    return y(place) + box_height * ((above + 1) / (count + 1) - 0.5);
  }

  const Drawing& drawing_;
};

}  // namespace

std::string graph_as_svg(const Variable& z, const std::string& title, const std::string& description, Where where) {
  const std::vector<const Node*> nodes = nodes_of(z, where);
  Drawing drawing = places_and_lines(nodes);
  lay_out_rows(drawing);
  const bool walls = std::any_of(nodes.begin(), nodes.end(), [](const Node* node) { return node->cut != 0; });
  GraphCanvas canvas(drawing, 72);
  canvas.text(svg_margin, 30, title, "font-size=\"16\" font-weight=\"bold\"");
  canvas.text(svg_margin, 51,
              std::string("Values go along the arrows, gradients against them.") +
                  (walls ? " A wall lets the value pass, and no gradient." : ""),
              "fill=\"#555\"");
  for (const Line& line : drawing.lines) canvas.line(line);
  for (const Place& place : drawing.places) {
    if (place.node != nullptr) canvas.box(place);
    if (place.beyond != nullptr) canvas.absent(place);
  }
  const double width = std::max(canvas.width, 640.0);
  return canvas.svg.document(title, description, canvas.height, width);
}

void write_graph_svg(const std::filesystem::path& path, const Variable& z, const std::string& title,
                     const std::string& description, Where where) {
  write_text_file(path, graph_as_svg(z, title, description, where), where);
}

}  // namespace segue
