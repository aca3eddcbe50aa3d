#include "autograd/tools/graph.hpp"

#include <unordered_map>
#include <unordered_set>

#include "tensor/fail.hpp"

namespace segue {
namespace {

// Visits every node once, users before inputs, left before right; `visit` returns false to stop. No
// recursion: a graph may be a million nodes deep.
template <class Visit>
void each_node(const Variable& z, const Visit& visit) {
  struct Pending {
    const Node* node;
    int depth;
  };
  std::vector<Pending> pending = {{&z.node(), 0}};
  std::unordered_set<const Node*> seen;
  while (!pending.empty()) {
    const Pending next = pending.back();
    pending.pop_back();
    const bool first_time = seen.insert(next.node).second;
    if (!visit(*next.node, next.depth, first_time)) return;
    if (!first_time) continue;
    for (std::size_t i = next.node->inputs.size(); i-- > 0;) {
      pending.push_back({next.node->inputs[i].get(), next.depth + 1});
    }
  }
}

// "mul 'loss' [2, 3]", "stop_gradient of 'h' [2, 3]".
std::string title(const Node& node) {
  const std::string name = node.label.empty() ? "" : fmt::format(" '{}'", node.label);
  return fmt::format("{}{}{} {}", node.op, node.cut != 0 ? " of" : "", name, node.value.shape());
}

// " = 6, gradient 2", the second where a backward left one; of larger tensors the title tells the
// shape.
std::string numbers_of(const Node& node) {
  if (node.value.size() != 1) return "";
  const std::string gradient =
      node.has_gradient ? fmt::format(", gradient {:.4g}", *node.gradient.data()) : "";
  return fmt::format(" = {:.4g}{}", *node.value.data(), gradient);
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

}  // namespace

std::string graph_as_tree(const Variable& z, std::size_t most) {
  std::unordered_map<const Node*, std::size_t> numbers;
  std::string out;
  std::size_t lines = 0;
  each_node(z, [&](const Node& node, int depth, bool first_time) {
    const std::string indent(2 * static_cast<std::size_t>(depth), ' ');
    if (lines++ == most) {
      out += indent + "...\n";
      return false;
    }
    const std::size_t number = numbers.try_emplace(&node, numbers.size() + 1).first->second;
    if (first_time) {
      out += fmt::format("{}#{} {}{}\n", indent, number, title(node), numbers_of(node));
    } else {
      out += fmt::format("{}#{} again\n", indent, number);
    }
    return true;
  });
  return out;
}

std::string graph_as_dot(const Variable& z, std::size_t most) {
  std::unordered_map<std::uint64_t, const Node*> drawn;
  std::string out =
      "digraph segue {\n  rankdir=BT;\n  node [shape=box, fontname=\"sans-serif\"];\n";
  each_node(z, [&](const Node& node, int, bool first_time) {
    if (drawn.size() == most) return false;
    if (!first_time) return true;
    drawn[node.id] = &node;
    const char* style = node.cut != 0         ? ", style=dashed"
                        : node.inputs.empty() ? ", style=rounded"
                                              : "";
    out += fmt::format("  n{} [label=\"{}{}\"{}];\n", node.id, escaped(title(node)),
                       numbers_of(node), style);
    return true;
  });
  each_node(z, [&](const Node& node, int, bool first_time) {
    if (!drawn.contains(node.id)) return false;
    if (!first_time) return true;
    for (const std::shared_ptr<Node>& input : node.inputs) {
      if (drawn.contains(input->id)) out += fmt::format("  n{} -> n{};\n", input->id, node.id);
    }
    if (drawn.contains(node.cut))
      out += fmt::format("  n{} -> n{} [style=dashed, arrowhead=none];\n", node.cut, node.id);
    return true;
  });
  return out + "}\n";
}

std::size_t graph_size(const Variable& z) {
  std::size_t count = 0;
  each_node(z, [&](const Node&, int, bool first_time) {
    count += first_time ? 1 : 0;
    return true;
  });
  return count;
}

}  // namespace segue
